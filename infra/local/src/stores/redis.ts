import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@sluice/service-runtime/free-port';
import { startLogged } from '../processes/child.ts';
import { endLeftover } from '../processes/leftover.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { untilRedisAnswers } from './redis-answer.ts';
import { findRedisProgram } from './redis-program.ts';
import type { Server } from './server.ts';

export interface RedisOptions {
  /** Used by this server only. */
  folder: string;
  /** Where a downloaded Redis is kept. */
  downloads: string;
  logFile: string;
  log: (line: string) => void;
  signal: AbortSignal | undefined;
  watchdog: Watchdog;
}

/** Prepares a private Redis: on 127.0.0.1, with a password, storing nothing on disk. */
export async function prepareRedis(options: RedisOptions): Promise<Server> {
  const { folder, logFile, signal, watchdog } = options;
  const { command, env } = await findRedisProgram(options);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const password = randomBytes(24).toString('base64url');
  const configFile = join(folder, 'redis.conf');
  const pidFile = join(folder, 'redis.pid');
  const stopSignal = 'SIGTERM';
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    logFile,
    stopSignal,
    async spawn() {
      await endLeftover(pidFile, folder, stopSignal);
      const lines = { bind: '127.0.0.1', port, requirepass: password, dir: folder, pidfile: pidFile };
      const quoted = Object.entries(lines).map(([name, value]) => `${name} ${JSON.stringify(String(value))}`);
      await writeFile(configFile, [...quoted, 'save ""', 'appendonly no', ''].join('\n'), { mode: 0o600 });
      return startLogged({ command, args: [configFile], env, logFile, stopSignal }, watchdog);
    },
    untilAnswering: (child) => untilRedisAnswers({ child, port, password, logFile, signal }),
  };
}
