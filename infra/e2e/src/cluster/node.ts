import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import {
  freePort,
  hasEnded,
  localUrl,
  type ServiceName,
  type StackSettings,
  services,
  spawnService,
  stopChild,
  untilEnded,
  untilReady,
  type Watchdog,
} from '@sluice/local/parts';
import { startChaosProxy } from '@sluice/testing';
import { type Frozen, freeze } from './frozen.ts';

export interface Surroundings {
  directory: string;
  settings: StackSettings;
  watchdog: Watchdog;
  signal: AbortSignal | undefined;
}

export interface NodeOptions {
  name: string;
  service: ServiceName;
  seed: number;
  /** Added to its environment, where it wins. */
  environment?: Record<string, string>;
  /** False if its stores may be missing: then it is only started. */
  waits?: boolean;
}

/** A process of a service with its own ways to Postgres and Redis. */
export type Node = Awaited<ReturnType<typeof startNode>>;

/** Starts a process of a service, which is ready when this resolves, unless `waits` is false. It ends with the stack, and with this process. */
export async function startNode(site: Surroundings, options: NodeOptions, stack: AsyncDisposableStack) {
  const { name, service, seed, environment = {}, waits = true } = options;
  const description = services.find((one) => one.name === service);
  if (!description) throw new Error(`There is no service ${service}`);
  const postgres = await startChaosProxy(site.settings.databaseUrl, stack, { seed });
  const redis = await startChaosProxy(site.settings.redisUrl, stack, { seed: seed + 1 });
  const address = { port: await freePort(), adminPort: await freePort() };
  const settings = {
    ...site.settings,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    addresses: { ...site.settings.addresses, [service]: address },
    spoolDirectory: join(site.settings.spoolDirectory, name),
    environment: { ...site.settings.environment, ...environment },
  };
  let starts = 0;
  let child: ChildProcess | undefined;
  let root: string | undefined;
  let isClosed = false;
  const logFile = () => join(site.directory, 'logs', `${name}-${starts}.log`);

  async function start(): Promise<void> {
    site.signal?.throwIfAborted();
    if (isClosed) throw new Error(`${name} has been closed`);
    starts += 1;
    child = await spawnService(description as (typeof services)[number], {
      settings,
      logFile: logFile(),
      watchdog: site.watchdog,
      ...(root !== undefined && { root }),
    });
    if (waits) await untilReady(child, { name, adminPort: address.adminPort, logFile: logFile(), signal: site.signal });
  }
  stack.defer(async () => {
    isClosed = true;
    if (child) await stopChild(child, 'SIGTERM', stopWithinMs);
  });
  await start();

  return {
    name,
    service,
    postgres,
    redis,
    url: localUrl(address.port),
    /** Where `/readyz` and `/metrics` are. */
    adminUrl: localUrl(address.adminPort),
    /** Of the process that runs now; undefined where none does. */
    get pid() {
      return child && !hasEnded(child) ? child.pid : undefined;
    },
    /** Of the process that runs now. */
    get logFile() {
      return logFile();
    },
    async freeze(): Promise<Frozen> {
      if (!child?.pid || hasEnded(child)) throw new Error(`${name} does not run`);
      return freeze(child.pid);
    },
    async kill(): Promise<void> {
      child?.kill('SIGKILL');
      if (child) await untilEnded(child);
    },
    /** Asks it to end, as an orchestrator does; resolves to its exit code, null where it had to be killed. */
    async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number | null> {
      if (!child) return null;
      await stopChild(child, signal, stopWithinMs);
      return child.exitCode;
    },
    /**
     * Starts it again at the same place, from now on from the folder of another version of the product, where that is
     * given; resolves when it is ready.
     */
    restart(from = root): Promise<void> {
      root = from;
      return start();
    },
  };
}

/** A little more than the services give themselves, draining included. */
const stopWithinMs = 15_000;
