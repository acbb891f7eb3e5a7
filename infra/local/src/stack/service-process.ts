import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LaunchError, messageOf } from '../launch-error.ts';
import { describeEnd, hasEnded, lastLines, startLogged } from '../processes/child.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { repositoryRoot } from '../repository.ts';
import { localUrl, nodeOptions, type ServiceDescription, type StackSettings, serviceEnvironment } from './services.ts';

/** A bound for what hangs: a process that has ended is told at once. */
const readyWithinMs = 120_000;

export interface SpawnOptions {
  settings: StackSettings;
  logFile: string;
  watchdog: Watchdog;
  /** Root of another version of the product; this one by default. */
  root?: string;
}

/** Starts a service, without waiting until it is ready. */
export function spawnService(
  service: ServiceDescription,
  { settings, logFile, watchdog, root = repositoryRoot }: SpawnOptions,
): Promise<ChildProcess> {
  const args = [...nodeOptions, join(root, service.folder, 'src', 'main.ts')];
  const env = serviceEnvironment(service, settings);
  return startLogged({ command: process.execPath, args, env, logFile, stopSignal: 'SIGTERM' }, watchdog);
}

/** Resolves when the service reports that it is ready. */
export async function untilReady(
  child: ChildProcess,
  {
    name,
    adminPort,
    logFile,
    signal,
  }: { name: string; adminPort: number; logFile: string; signal?: AbortSignal | undefined },
): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  for (;;) {
    signal?.throwIfAborted();
    if (hasEnded(child)) throw new LaunchError(await describeDeath(name, child, logFile));
    const reason = await whyNotReady(adminPort);
    if (reason === undefined) return;
    if (performance.now() > deadline) {
      throw new LaunchError(`${name} is not ready after ${readyWithinMs / 1000} s (${reason}); its log is ${logFile}`);
    }
    await sleep(25);
  }
}

/** One line, and below it the end of the process's log. */
export async function describeDeath(name: string, child: ChildProcess, logFile: string): Promise<string> {
  return `${name} has ended unexpectedly (${describeEnd(child)}); the last lines of ${logFile}:\n${await lastLines(logFile)}`;
}

async function whyNotReady(adminPort: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`${localUrl(adminPort)}/readyz`, { signal: AbortSignal.timeout(5000) });
    return answer.ok ? undefined : (await answer.text()).trim();
  } catch (error) {
    return messageOf(error); // it does not listen yet
  }
}
