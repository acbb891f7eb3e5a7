import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { allOrThrow } from '../all-or-throw.ts';
import { stopChild } from '../processes/child.ts';
import { startWatchdog, type Watchdog } from '../processes/watchdog.ts';
import { defaultDirectory } from '../repository.ts';
import { preparePostgres } from './postgres.ts';
import { prepareRedis } from './redis.ts';
import { assertReachable } from './redis-answer.ts';
import type { Server } from './server.ts';

export interface StoresOptions {
  /** Holds the data and the logs; created if it does not exist. */
  directory: string;
  /** Called for steps that take long. */
  log: (line: string) => void;
  /** An existing Redis, instead of a private one. */
  redisUrl?: string | undefined;
  /**
   * Where a downloaded Redis is kept: `.sluice/downloads` of the repository by default, so that all folders share it.
   */
  downloads?: string | undefined;
  /** Settings of postgresql.conf, added to the defaults. */
  postgresSettings?: Record<string, string>;
  /** Aborts the start. */
  signal?: AbortSignal | undefined;
  /** The caller's own watchdog, which then ends the stores too when this process dies. */
  watchdog?: Watchdog | undefined;
}

export interface Stores {
  databaseUrl: string;
  redisUrl: string;
  /** `postgres`, and `redis` if it is private. */
  processes: ReadonlyMap<string, ChildProcess>;
  /** Restarts a store whose process has ended, with the same URL and data. */
  restart(name: string): Promise<void>;
  /** Stops the stores; resolves when their processes have ended. */
  close(): Promise<void>;
}

/**
 * Starts Postgres and Redis on free ports of 127.0.0.1. Existing data are reused, also after a crash. No process stays
 * behind when this fails, or when this process dies.
 * @throws {LaunchError} when a store cannot start; the message says what to do.
 */
export async function startStores(options: StoresOptions): Promise<Stores> {
  const { directory, log, redisUrl, downloads = join(defaultDirectory, 'downloads'), postgresSettings = {} } = options;
  await using opened = new AsyncDisposableStack();
  await mkdir(join(directory, 'logs'), { recursive: true, mode: 0o711 });
  const watchdog = options.watchdog ?? opened.adopt(await startWatchdog(), (own) => own.close());
  const shared = { log, signal: options.signal, watchdog };
  const logFile = (name: string) => join(directory, 'logs', `${name}.log`);

  if (redisUrl) await assertReachable(redisUrl);
  const servers = new Map<string, Server>();
  if (!redisUrl) {
    const folder = join(directory, 'redis');
    servers.set('redis', await prepareRedis({ folder, downloads, logFile: logFile('redis'), ...shared }));
  }
  const folder = join(directory, 'postgres');
  const postgres = await preparePostgres({
    folder,
    logFile: logFile('postgres'),
    settings: postgresSettings,
    ...shared,
  });
  servers.set('postgres', postgres);

  const processes = new Map<string, ChildProcess>();
  const start = async (name: string) => {
    const server = servers.get(name);
    if (!server) throw new Error(`There is no store ${name} of ours`);
    const child = await server.spawn();
    processes.set(name, child);
    await server.untilAnswering(child);
  };
  opened.defer(async () => {
    const stops = [...processes].map(([name, child]) => stopChild(child, servers.get(name)?.stopSignal ?? 'SIGTERM'));
    await Promise.all(stops);
  });
  log('Starting Postgres and Redis');
  await allOrThrow([...servers.keys()].map(start));

  const owned = opened.move();
  return {
    databaseUrl: postgres.url,
    redisUrl: redisUrl ?? servers.get('redis')?.url ?? '',
    processes,
    restart: start,
    close: () => owned.disposeAsync(),
  };
}
