import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type OwnedProcess, startOwned } from './owned-process.ts';

export interface ListeningProcessOptions {
  /** A program that prints its port when it listens, and ends with its standard input. */
  file: string;
  args: string[];
  env?: Record<string, string>;
  logFile: string;
  signal: AbortSignal;
}

export interface ListeningProcess extends OwnedProcess {
  url: string;
}

/** Starts such a program; resolves when it listens. */
export async function startListening(options: ListeningProcessOptions): Promise<ListeningProcess> {
  const { file, args, env = {}, logFile, signal } = options;
  const command = process.execPath;
  const started = await startOwned({ command, args: [file, ...args], env, logFile, readsOutput: true });
  try {
    if (!started.child.stdout) throw new Error('The output is not a pipe');
    const lines = createInterface(started.child.stdout);
    const [port] = await once(lines, 'line', { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    return { ...started, url: `http://127.0.0.1:${port}` };
  } catch (error) {
    await started[Symbol.asyncDispose]();
    signal.throwIfAborted();
    throw new Error(`${file} did not start; see ${logFile}`, { cause: error });
  }
}
