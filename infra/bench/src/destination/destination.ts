import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchmarkContext } from '../benchmark.ts';
import { type OwnedProcess, startOwned } from '../processes/owned-process.ts';
import { nginxConfiguration } from './nginx-configuration.ts';

/** What the destination answers every request with: 80 bytes. */
export const answerBody = JSON.stringify({ id: '7f0c2f8e-5f0e-4b57-9d4f-0d6b8f5f3c11', status: 'accepted' }).padEnd(80);

export interface Destination extends AsyncDisposable {
  /** The program. */
  name: string;
}

/** Starts the destination: nginx, or a process of Node where there is none. */
export async function startDestination(context: BenchmarkContext, port: number): Promise<Destination> {
  const { programs, directory, signal } = context;
  const folder = join(directory, 'destination');
  await mkdir(folder, { recursive: true });
  const logFile = join(folder, 'output.log');
  const nginx = await programs.find('nginx', ['nginx-light']);
  if (!nginx) {
    const args = [join(import.meta.dirname, 'node-destination.process.ts'), String(port), answerBody];
    const started = await startOwned({ command: process.execPath, args, logFile });
    return untilListening(
      { ...started, name: `node ${process.version}, as there is no nginx; it takes more of its core` },
      { port, logFile, signal },
    );
  }
  const configuration = join(folder, 'nginx.conf');
  await writeFile(configuration, nginxConfiguration({ folder, port, answer: answerBody }));
  const args = ['-p', folder, '-c', configuration];
  const started = await startOwned({ command: nginx.command, args, env: nginx.env, logFile, isForeign: true });
  return untilListening({ ...started, name: 'nginx' }, { port, logFile, signal });
}

async function untilListening<T extends OwnedProcess>(
  started: T,
  { port, logFile, signal }: { port: number; logFile: string; signal: AbortSignal },
): Promise<T> {
  const deadline = performance.now() + 5000;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}`, { signal });
      return started;
    } catch (error) {
      const isOver = performance.now() > deadline || signal.aborted;
      if (isOver) await started[Symbol.asyncDispose]();
      signal.throwIfAborted();
      if (isOver) throw new Error(`The destination does not answer; see ${logFile}`, { cause: error });
      await sleep(25);
    }
  }
}
