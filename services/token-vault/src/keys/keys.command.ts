import { ConfigError, readConfig } from '@sluice/service-runtime';
import { onFirstSignal, UsageError } from '@sluice/service-runtime/command-line';
import { DataKeyError } from '@sluice/vault';
import { help, type KeysCommand, readArguments } from './keys.arguments.ts';
import { configSchema, openKeys } from './open-keys.ts';
import { perform } from './perform.ts';
import { Progress } from './progress.ts';
import { describeUnopened } from './results.ts';

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

class Stopped extends Error {
  readonly exitCode: number;

  constructor(signal: keyof typeof exitCodes) {
    super('Stopped. The same command goes on where this one ended.');
    this.exitCode = exitCodes[signal];
  }
}

process.exitCode = await run(process.argv.slice(2));

async function run(argv: string[]): Promise<number> {
  try {
    const command = readArguments(argv);
    if (command.name !== 'help') return await runWithStores(command);
    console.log(help);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return fail(`${error.message}\n\n${help}`, 2);
    if (error instanceof ConfigError) return fail(error.message, 78);
    if (error instanceof Stopped) return fail(error.message, error.exitCode);
    if (error instanceof DataKeyError) return fail(describeUnopened(error), 1);
    const why = error instanceof Error ? error.message : String(error);
    return fail(`It could not be finished: ${why}\nThe same command goes on where this one ended.`, 1);
  }
}

/** With `--json` the standard output has only results, and messages go to the standard error. */
async function runWithStores(command: Exclude<KeysCommand, { name: 'help' }>): Promise<number> {
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

function fail(message: string, exitCode: number): number {
  console.error(message);
  return exitCode;
}
