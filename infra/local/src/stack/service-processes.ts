import type { ChildProcess } from 'node:child_process';
import { stopChild } from '../processes/child.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { spawnService, untilReady } from './service-process.ts';
import { type ServiceDescription, type StackSettings, services } from './services.ts';

export interface ServiceProcesses {
  running: ReadonlyMap<string, ChildProcess>;
  spawn(name: string): Promise<void>;
  /** Resolves when the service reports that it is ready. */
  untilReady(name: string): Promise<void>;
  /** Stops all services, which have 10 s. */
  close(): Promise<void>;
}

export interface ServiceProcessOptions {
  settings: StackSettings;
  logFile: (name: string) => string;
  watchdog: Watchdog;
  signal: AbortSignal | undefined;
}

/** A little more than the services' own limit (SHUTDOWN_TIMEOUT_MS). */
const stopWithinMs = 11_000;

export function serviceProcesses({ settings, logFile, watchdog, signal }: ServiceProcessOptions): ServiceProcesses {
  const running = new Map<string, ChildProcess>();
  return {
    running,
    async spawn(name) {
      running.set(name, await spawnService(findService(name), { settings, logFile: logFile(name), watchdog }));
    },
    async untilReady(name) {
      const { adminPort } = settings.addresses[findService(name).name];
      const child = running.get(name);
      if (child) await untilReady(child, { name, adminPort, logFile: logFile(name), signal });
    },
    async close() {
      await Promise.all([...running.values()].map((child) => stopChild(child, 'SIGTERM', stopWithinMs)));
    },
  };
}

function findService(name: string): ServiceDescription {
  const found = services.find((service) => service.name === name);
  if (!found) throw new Error(`There is no process ${name}`);
  return found;
}
