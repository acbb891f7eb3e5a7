import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import { freePort, tryPort } from './free-port.ts';

const program = `
  const ports = [];
  for (let i = 0; i < 100; i++) ports.push(await freePort());
  console.log(JSON.stringify(ports));
`;

/** Of a process that begins at the place of the given one. */
async function chosenByAnother(env = process.env, pid = process.pid): Promise<number[]> {
  const samePlace = `Object.defineProperty(process, 'pid', { value: ${pid} });`;
  const code = `${samePlace} const { freePort } = await import('${new URL('./free-port.ts', import.meta.url).href}');${program}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env });
  return JSON.parse(stdout);
}

test('a port is free, and no outgoing connection of any process will take it', async () => {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const lowestOfConnections = Number(range.trim().split(/\s+/)[0]);
  for (let i = 0; i < 20; i++) {
    const port = await freePort();
    expect(port).toBeLessThan(lowestOfConnections);
    await tryPort(port);
  }
});

test('fetch takes every port, also for a process that begins at the lowest', async () => {
  const ports = await chosenByAnother(process.env, 0);
  const refusalOf = (port: number) => fetch(`http://127.0.0.1:${port}`).catch(({ cause }) => cause.message);
  expect(await refusalOf(10_080)).toBe('bad port');
  expect(await Promise.all(ports.map(refusalOf))).not.toContain('bad port');
});

test('those that choose at the same time get different ones', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
});

test('processes get different ones, also where they begin at the same place at the same time', async () => {
  const chosen = await Promise.all([
    chosenByAnother(),
    chosenByAnother(),
    chosenByAnother({ TMPDIR: import.meta.dirname }),
  ]);
  expect(new Set(chosen.flat()).size).toBe(300);
});

test('a port that is in use is passed over', async () => {
  await using stack = new AsyncDisposableStack();
  let port = await freePort();
  const server = createServer();
  const taken = await listenAbove(server, port);
  stack.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  await expect(tryPort(taken)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  while (port < taken) port = await freePort();
  expect(port).toBeGreaterThan(taken);
});

async function listenAbove(server: Server, port: number): Promise<number> {
  try {
    server.listen(port + 1, '127.0.0.1');
    await once(server, 'listening');
    return port + 1;
  } catch {
    return listenAbove(server, port + 1);
  }
}
