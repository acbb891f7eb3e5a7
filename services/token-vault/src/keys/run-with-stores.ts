import { ConfigError, readConfig } from '@sluice/service-runtime';
import { onFirstSignal } from '@sluice/service-runtime/command-line';
import { DataKeyError } from '@sluice/vault';
import type { KeysCommand } from './keys.arguments.ts';
import { configSchema, openKeys } from './open-keys.ts';
import { perform } from './perform.ts';
import { Progress } from './progress.ts';
import { describeUnopened } from './results.ts';

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

class Stopped extends Error {
  readonly exitCode: number;

  constructor(signal: keyof typeof exitCodes) {
    super('Stopped. To continue, run the same command again.');
    this.exitCode = exitCodes[signal];
  }
}

/** @returns the exit code. Errors say how to go on. */
export async function runWithStores(command: KeysCommand): Promise<number> {
  try {
    return await run(command);
  } catch (error) {
    if (error instanceof ConfigError || error instanceof Stopped) throw error;
    if (error instanceof DataKeyError) throw new Error(describeUnopened(error), { cause: error });
    const why = error instanceof Error ? error.message : String(error);
    const message = `The command could not be finished: ${why}\nTo continue, run the same command again.`;
    throw new Error(message, { cause: error });
  }
}

/** With `--json` the standard output has only results, and messages go to the standard error. */
async function run(command: KeysCommand): Promise<number> {
  const config = readConfig(configSchema, process.env);
  const progress = new Progress(process.stderr);
  const stop = new AbortController();
  const onSignal = (signal: keyof typeof exitCodes) => {
    progress.clear();
    console.error('Stopping after the batch under way');
    stop.abort(new Stopped(signal));
  };
  onFirstSignal(['SIGINT', 'SIGTERM'], onSignal); // a second signal ends the process, which loses nothing either
  const say = command.json ? (line: string) => console.error(line) : (line: string) => console.log(line);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => progress.clear());
  const keys = await openKeys(config, stack);
  const result = await perform(command, { keys, signal: stop.signal, progress, say });
  progress.clear();
  console.log(command.json ? JSON.stringify(result.json) : result.text);
  return result.exitCode;
}
