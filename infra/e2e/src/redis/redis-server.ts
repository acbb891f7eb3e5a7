import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  defaultDirectory,
  findRedisProgram,
  freePort,
  startLogged,
  stopChild,
  untilEnded,
  type Watchdog,
} from '@sluice/local/parts';
import { eventually } from '@sluice/testing';
import { Redis } from 'ioredis';
import { run } from '../run-program.ts';

export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

export interface RedisServerOptions {
  /** Of all servers that belong together; each gets one in it. */
  directory: string;
  watchdog: Watchdog;
  password: string;
  /** Lines of redis.conf. */
  settings?: Record<string, string | number>;
  /** A Sentinel instead of a server: the name of what it watches, and the lines about that. */
  sentinel?: string[];
}

/** Starts a Redis server on a free port of 127.0.0.1; it answers when this resolves, and ends with the stack. */
export async function startRedisServer(options: RedisServerOptions, stack: AsyncDisposableStack) {
  const { directory, watchdog, password, settings = {}, sentinel } = options;
  const downloads = join(defaultDirectory, 'downloads');
  const program = await findRedisProgram({ downloads, log: () => undefined, signal: undefined, watchdog });
  const port = await freePort();
  const folder = join(directory, `redis-${port}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const all = { bind: '127.0.0.1', port, dir: folder, requirepass: password, ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} ${JSON.stringify(String(value))}`);
  const storage = sentinel ?? [`masterauth ${password}`, 'save ""', 'appendonly no', 'repl-diskless-sync-delay 0'];
  const configFile = join(folder, 'redis.conf');
  await writeFile(configFile, [...lines, ...storage, ''].join('\n'), { mode: 0o600 });
  const args = [configFile, ...(sentinel ? ['--sentinel'] : [])];
  const child: ChildProcess = await startLogged(
    { ...program, args, logFile: join(folder, 'redis.log'), stopSignal: 'SIGTERM' },
    watchdog,
  );
  stack.defer(() => stopChild(child, 'SIGTERM'));
  // A server that is promoted ends its connections: what is asked meanwhile is asked again.
  const client = new Redis({ host: '127.0.0.1', port, password });
  client.on('error', () => undefined); // what it is asked rejects after some tries
  stack.defer(() => client.disconnect());
  await eventually(`Redis on port ${port}`, () =>
    client.ping().then(
      () => true,
      () => false,
    ),
  );
  return {
    port,
    client,
    /** Runs the command line that comes with the server. */
    runCli: (...typed: string[]) =>
      run(program.command.replace(/-server$/, '-cli'), typed, { env: { ...program.env, REDISCLI_AUTH: password } }),
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await untilEnded(child);
    },
  };
}
