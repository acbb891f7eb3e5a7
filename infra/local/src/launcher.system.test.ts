import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStoresFolder, programEnvironment, useChildren, useStack } from '@sluice/testing';
import { processIdentity } from './processes/process-identity.ts';
import { repositoryRoot } from './repository.ts';

const main = join(import.meta.dirname, 'main.ts');
const tracked = useChildren();
let folder: string;

useStack(async (stack) => {
  folder = await openStoresFolder(stack, 'launcher');
});

function start(env: Record<string, string>, ...args: string[]) {
  const child = tracked(
    spawn(process.execPath, [main, ...args], {
      env: { ...programEnvironment(), PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const output = Promise.all([text(child.stdout), text(child.stderr)]).then((parts) => parts.join(''));
  const code = once(child, 'exit').then(([status]) => status as number | null);
  return { child, output, code };
}

/** Every child of the launcher, with its start time. */
async function childrenOf({ pid }: { pid?: number | undefined }): Promise<[pid: number, identity: string][]> {
  const numbers = (await readdir('/proc')).map(Number).filter((number) => number > 0);
  const found: [number, string][] = [];
  for (const number of numbers) {
    const status = await readFile(`/proc/${number}/stat`, 'latin1').catch(() => ''); // it has ended
    const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
    const identity = processIdentity(number);
    if (parent === pid && identity !== undefined) found.push([number, identity]);
  }
  return found;
}

async function untilGone(processes: [pid: number, identity: string][], deadlineMs = 60_000): Promise<number[]> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const left = processes.filter(([pid, identity]) => processIdentity(pid) === identity).map(([pid]) => pid);
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(20);
  }
}

async function untilPrinted({ stdout }: ChildProcess, line: string): Promise<void> {
  let seen = '';
  await new Promise<void>((resolve, reject) => {
    stdout?.on('end', () => reject(new Error(`It ended before it printed "${line}": ${seen}`)));
    stdout?.on('data', (chunk) => {
      seen += String(chunk);
      if (seen.includes(line)) resolve();
    });
  });
}

/** Waits for texts in the order in which they are printed. */
function followed({ stdout }: ChildProcess): (text: string) => Promise<void> {
  let unread = '';
  let wake = () => {};
  let hasEnded = false;
  stdout?.on('data', (chunk) => {
    unread += String(chunk);
    wake();
  });
  stdout?.on('end', () => {
    hasEnded = true;
    wake();
  });
  return async (text) => {
    while (!unread.includes(text)) {
      if (hasEnded) throw new Error(`It ended before it printed "${text}": ${unread}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    unread = unread.slice(unread.indexOf(text) + text.length);
  };
}

/** The processes that run now for a service or store: none while it waits for its next start. */
async function pidsOf(launcher: ChildProcess, name: string): Promise<number[]> {
  const stores: Record<string, RegExp> = { redis: /(redis|valkey)-server/, postgres: /bin\/postgres/ };
  const isIt = stores[name] ?? new RegExp(`/${name}/src/main.ts`);
  const found: number[] = [];
  for (const [pid] of await childrenOf(launcher)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => ''); // it has ended
    if (isIt.test(line)) found.push(pid);
  }
  return found;
}

const commandLine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1');

test('--help names every setting and starts nothing', async () => {
  const { output, code } = start({ SLUICE_DIR: join(folder, 'help') }, '--help');
  expect(await code).toBe(0);
  expect(await output).toMatch(/PORT[\s\S]*SLUICE_DIR[\s\S]*REDIS_URL/);
  expect(await readdir(folder)).not.toContain('help');
});

test('an unknown option is one message, before anything starts', async () => {
  const { output, code } = start({ SLUICE_DIR: join(folder, 'unknown') }, '--port=8081');
  expect(await output).toBe("Unknown option '--port'; see npm start -- --help\n");
  expect(await code).toBe(2);
  expect(await readdir(folder)).not.toContain('unknown');
});

test('a busy port is one message, before anything starts', async () => {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  const { output, code } = start({ PORT: port, SLUICE_DIR: join(folder, 'busy') });
  expect(await code).toBe(1);
  expect(await output).toMatch(
    new RegExp(`^Port ${port} of 127.0.0.1 is in use; choose another, for example PORT=\\d+ npm start\n$`),
  );
  expect(await readdir(folder)).not.toContain('busy');
});

test('a PORT that is none is one message', async () => {
  const { output, code } = start({ PORT: 'http', SLUICE_DIR: join(folder, 'port') });
  expect(await code).toBe(1);
  expect(await output).toBe('PORT must be a number from 0 to 65535; it is "http"\n');
});

test('a setting that the launcher sets itself is one message, before anything starts', async () => {
  const { output, code } = start({ DATABASE_URL: 'postgres://elsewhere/x', SLUICE_DIR: join(folder, 'refused') });
  expect(await code).toBe(1);
  expect(await output).toBe(
    'npm start sets DATABASE_URL itself and cannot take another value; start without: env -u DATABASE_URL npm start\n',
  );
  expect(await readdir(folder)).not.toContain('refused');
});

test('a folder that cannot be written is one message', async () => {
  await writeFile(join(folder, 'file'), '');
  const directory = join(folder, 'file', 'below');
  const { output, code } = start({ SLUICE_DIR: directory });
  expect(await code).toBe(1);
  expect(await output).toBe(`The folder ${directory} cannot be written (ENOTDIR); choose another with SLUICE_DIR\n`);
});

test('a folder on a file system that has no folders to make is one message too', async () => {
  const { output, code } = start({ SLUICE_DIR: '/proc/sluice/below' });
  expect(await code).toBe(1);
  expect(await output).toContain('cannot be written (ENOENT); choose another with SLUICE_DIR');
});

test('a Redis that is away is one message, and nothing is left running', async () => {
  const { child, output, code } = start({ SLUICE_DIR: join(folder, 'redis'), REDIS_URL: 'redis://127.0.0.1:1' });
  expect(await code).toBe(1);
  expect(await output).toBe('The Redis of REDIS_URL at 127.0.0.1:1 is away (ECONNREFUSED)\n');
  expect(await childrenOf(child)).toEqual([]);
});

test('a second launcher on the same folder is one message, and leaves the first alone', async () => {
  const directory = join(folder, 'twice');
  const first = start({ SLUICE_DIR: directory });
  await untilPrinted(first.child, 'Creating the database');
  const second = start({ SLUICE_DIR: directory });
  expect(await second.code).toBe(1);
  expect(await second.output).toBe(
    `Sluice runs already on ${directory}; stop it, or choose another folder with SLUICE_DIR\n`,
  );
  expect(first.child.exitCode).toBeNull();
  first.child.kill('SIGTERM');
  expect(await first.code).toBe(0);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s while it starts: exit 0, and no process is left', async (signal) => {
  const { child, code } = start({ SLUICE_DIR: join(folder, signal) });
  await untilPrinted(child, 'Migrating the database');
  const children = await childrenOf(child);
  expect(children.length).toBeGreaterThanOrEqual(3); // Postgres, Redis, the watchdog
  child.kill(signal);
  expect(await code).toBe(0);
  expect(await untilGone(children, 0)).toEqual([]);
});

test.each(['Creating the database', 'Migrating the database', 'Starting the services'])(
  'kill -9 at "%s" leaves no process, and the next start works',
  async (line) => {
    const directory = join(folder, line);
    const { child, code } = start({ SLUICE_DIR: directory });
    await untilPrinted(child, line);
    await sleep(60);
    const children = await childrenOf(child);
    expect(children.length).toBeGreaterThanOrEqual(2);
    child.kill('SIGKILL');
    await code;
    expect(await untilGone(children)).toEqual([]);

    const again = start({ SLUICE_DIR: directory });
    await untilPrinted(again.child, 'Migrating the database');
    again.child.kill('SIGTERM');
    expect(await again.code).toBe(0);
  },
);

test('without the watchdog a kill -9 would leave processes; the next start ends what it finds', async () => {
  const directory = join(folder, 'unwatched');
  const { child, code } = start({ SLUICE_DIR: directory });
  await untilPrinted(child, 'Migrating the database');
  const children = await childrenOf(child);
  for (const [pid] of children) if (commandLine(pid).includes('watchdog')) process.kill(pid, 'SIGKILL');
  child.kill('SIGKILL');
  await code;
  const left = await untilGone(children, 500);
  expect(left.length).toBeGreaterThanOrEqual(2); // Postgres and Redis

  const again = start({ SLUICE_DIR: directory });
  await untilPrinted(again.child, 'Migrating the database');
  expect(await untilGone(children)).toEqual([]);
  again.child.kill('SIGTERM');
  expect(await again.code).toBe(0);
});

test('a kill -9 of npm, which cannot pass it on, ends what npm started', async () => {
  const env = { ...programEnvironment(), PORT: '0', SLUICE_DIR: join(folder, 'npm') };
  const options = { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'ignore'] } satisfies SpawnOptions;
  const npm = tracked(spawn('npm', ['start', '--silent'], options));
  await untilPrinted(npm, 'Migrating the database');
  const [[shell = 0] = []] = await childrenOf(npm);
  const below = await childrenOf({ pid: shell });
  const launcher = commandLine(shell).startsWith('sh') ? below : await childrenOf(npm);
  const all = [...launcher, ...(await childrenOf({ pid: launcher[0]?.[0] }))];
  expect(all.length).toBeGreaterThanOrEqual(4); // the launcher, Postgres, Redis, the watchdog
  npm.kill('SIGKILL');
  expect(await untilGone(all)).toEqual([]);
});

describe('when it is ready', () => {
  const given = { TRANSFORM_HEAP_BYTES: '33554432', LOG_LEVL: 'debug' };
  const environment = () => ({ SLUICE_DIR: join(folder, 'ready'), ...given });
  const environmentOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');

  /** Kills a process as soon as it runs again, because ends count only within a minute. */
  async function killWhenever(launcher: ChildProcess, name: string, times: number): Promise<void> {
    const killed = new Set<number>();
    while (killed.size < times && launcher.exitCode === null) {
      const [pid = 0] = (await pidsOf(launcher, name)).filter((number) => !killed.has(number));
      if (pid > 0) process.kill(pid, 'SIGKILL');
      if (pid > 0) killed.add(pid);
      else await sleep(20);
    }
    expect(killed.size).toBe(times);
  }

  async function startReady() {
    const launched = start(environment());
    await untilPrinted(launched.child, 'Stop:');
    const credentials = JSON.parse(await readFile(join(folder, 'ready', 'credentials.json'), 'utf8'));
    return { ...launched, credentials, children: await childrenOf(launched.child) };
  }

  test('the key opens the base URL; Ctrl-C stops all with exit 0; the next start has the same Tenant', async () => {
    const first = await startReady();
    const headers = { 'SVC-API-KEY': first.credentials.management_key };
    const answer = await fetch(`${first.credentials.base_url}/tenants/self`, { headers });
    expect(await answer.json()).toMatchObject({ id: first.credentials.tenant_id, name: 'Local' });
    expect((await stat(join(folder, 'ready', 'credentials.json'))).mode & 0o777).toBe(0o600);
    const [gateway = 0] = await pidsOf(first.child, 'proxy-gateway');
    const [worker = 0] = await pidsOf(first.child, 'worker');
    expect(environmentOf(gateway)).toContain('TRANSFORM_HEAP_BYTES=33554432');
    expect(environmentOf(worker).join()).not.toContain('TRANSFORM_HEAP_BYTES');
    expect(first.children).toHaveLength(8); // five services, two stores, the watchdog
    first.child.kill('SIGINT');
    first.child.kill('SIGINT'); // as npm does
    expect(await first.code).toBe(0);
    expect(await first.output).toContain('There is no setting LOG_LEVL; did you mean LOG_LEVEL?\n');
    expect(await untilGone(first.children, 0)).toEqual([]);

    const second = await startReady();
    expect(second.credentials).toEqual({
      ...first.credentials,
      base_url: expect.not.stringMatching(first.credentials.base_url),
    });
    const self = await fetch(`${second.credentials.base_url}/tenants/self`, { headers });
    expect(self.status).toBe(200);
    second.child.kill('SIGKILL');
    await second.code;
    expect(await untilGone(second.children)).toEqual([]);
  });

  test('what dies is started again and said, also the stores; after five times in a minute everything stops', async () => {
    const launched = start(environment());
    const said = followed(launched.child);
    await said('Stop:');
    const { base_url, management_key } = JSON.parse(await readFile(join(folder, 'ready', 'credentials.json'), 'utf8'));
    const self = () =>
      fetch(`${base_url}/tenants/self`, { headers: { 'SVC-API-KEY': management_key } }).then(
        ({ status }) => status,
        () => 0, // the ingress itself was killed
      );
    const before = await childrenOf(launched.child);
    for (const name of ['redis', 'postgres', 'management-api', 'ingress']) {
      for (const pid of await pidsOf(launched.child, name)) process.kill(pid, 'SIGKILL');
      await said(`${name} has ended unexpectedly (SIGKILL); the last lines of `);
      await said(`${name} is running again`);
      while ((await self()) !== 200) await sleep(20);
    }
    expect(await childrenOf(launched.child)).toHaveLength(before.length);

    const last = await childrenOf(launched.child);
    await killWhenever(launched.child, 'worker', 5);
    expect(await launched.code).toBe(1);
    expect(await launched.output).toContain('worker has ended 5 times within a minute, so everything stops');
    expect(await untilGone(last, 0)).toEqual([]);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)(
    '%s while a process waits for its next start leaves none',
    async (signal) => {
      const launched = start(environment());
      const said = followed(launched.child);
      await said('Stop:');
      await killWhenever(launched.child, 'worker', 3);
      for (let times = 1; times <= 3; times++) await said('worker has ended unexpectedly');
      const children = await childrenOf(launched.child);
      launched.child.kill(signal);
      expect(await launched.code).toBe(signal === 'SIGINT' ? 0 : null);
      expect(await untilGone(children)).toEqual([]);
      expect(await childrenOf(launched.child)).toEqual([]);
    },
  );
});
