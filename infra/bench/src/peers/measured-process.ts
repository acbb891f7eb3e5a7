import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startOwned } from '../processes/owned-process.ts';

export interface MeasuredProcessOptions {
  /** A file in this folder. It measures for the seconds in each line of its standard input, and prints the rate. */
  file: string;
  env: Record<string, string>;
  logFile: string;
  signal: AbortSignal;
}

export interface MeasuredProcess extends AsyncDisposable {
  pid: number | undefined;
  /** @returns its rate a second. @throws when it failed. */
  measure(seconds: number): Promise<number>;
}

export async function startMeasuredProcess({
  file,
  env,
  logFile,
  signal,
}: MeasuredProcessOptions): Promise<MeasuredProcess> {
  const args = [join(import.meta.dirname, file)];
  const started = await startOwned({ command: process.execPath, args, env, logFile, readsOutput: true });
  const { stdin, stdout } = started.child;
  if (!stdin || !stdout) throw new Error('Standard input and output are not pipes');
  const lines = createInterface(stdout);
  return {
    ...started,
    async measure(seconds) {
      const bounds = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000 + 10_000)]);
      const answered = once(lines, 'line', { signal: bounds });
      stdin.write(`${seconds}\n`);
      try {
        return Number((await answered)[0]);
      } catch (cause) {
        signal.throwIfAborted();
        throw new Error(`${file} failed; see ${logFile}`, { cause });
      }
    },
  };
}
