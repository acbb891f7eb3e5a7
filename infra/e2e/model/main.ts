import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onStopRequest } from '@sluice/local/parts';
import { UsageError } from '@sluice/service-runtime/command-line';
import { makeTemporaryFolder } from '@sluice/testing';
import { type Check, type CommandLine, help, readCommandLine } from './checks.ts';
import { describe, isAsExpected, type Outcome, table } from './outcome.ts';
import { findTools, ModelError, runCheck } from './spin.ts';

const { argv, env } = process;
using stop = onStopRequest({ byNpm: env.npm_lifecycle_event !== undefined });
const { signal } = stop;

try {
  const commandLine = readCommandLine(argv.slice(2));
  if (commandLine.isHelp) console.log(help);
  else process.exitCode = (await run(commandLine)) ? 0 : 1;
} catch (error) {
  if (signal.aborted) {
    console.log('Stopped');
    process.exitCode = 130;
  } else if (error instanceof UsageError) {
    console.error(`${error.message}; see npm run model -- --help`);
    process.exitCode = 2;
  } else {
    console.error(error instanceof ModelError ? error.message : error);
    process.exitCode = 1;
  }
}

/** Runs the chosen checks one after the other. @returns whether all came out as they must. */
async function run({ chosen, isQuick }: CommandLine): Promise<boolean> {
  const tools = await findTools(env.PATH ?? '', console.log, signal);
  await using opened = new AsyncDisposableStack();
  const directory = await makeTemporaryFolder(opened, 'model');
  const results: { check: Check; outcome: Outcome }[] = [];
  for (const check of chosen) {
    console.log(`\n${check.name}: ${check.what}`);
    const cwd = join(directory, check.name);
    await mkdir(cwd);
    const outcome = await runCheck(check, { tools, isQuick, cwd, signal });
    console.log(describe(check, outcome));
    results.push({ check, outcome });
  }
  console.log(`\n${table(results)}`);
  return results.every(({ check, outcome }) => isAsExpected(check, outcome));
}
