import { onStopRequest } from '@sluice/local/parts';
import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { readSeed } from '@sluice/testing';
import { runFault } from './fault-test.ts';
import { faultTests } from './table.ts';

const list = faultTests.map(({ name, description }) => `  ${name.padEnd(24)} ${description}`).join('\n');

const help = `Usage: npm run test:faults -- [options] [fault test...]

Runs the platform on stores of its own, disturbs it, and checks what its clients saw. Without a name all run, one after
another. Only processes that were started here are touched.

Options:
  --list       the names
  --seed N     repeat the choices of a run
  --keep       keep the temporary folder, with the logs of all processes
  --help       this text

Fault tests:
${list}`;

try {
  const { values, positionals } = readOptions({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      list: { type: 'boolean', default: false },
      seed: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.filter((name) => !faultTests.some((test) => test.name === name));
  if (unknown.length > 0) throw new UsageError(`There is no fault test ${unknown.join(', ')}`);
  const seed = readSeed(values.seed);
  if (values.help) console.log(help);
  else if (values.list) console.log(list);
  else process.exitCode = await run(positionals, { seed, keep: values.keep });
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}; see npm run test:faults -- --help`);
  process.exitCode = 2;
}

/** Runs those that are named, or all. @returns the exit code. */
async function run(names: readonly string[], options: { seed: number; keep: boolean }): Promise<number> {
  using stopRequest = onStopRequest({ byNpm: process.env.npm_lifecycle_event !== undefined });
  const { signal } = stopRequest;
  let failures = 0;
  for (const test of faultTests.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const log = (line: string) => console.log(`${test.name}: ${line}`);
    try {
      const report = await runFault(test, { ...options, log, signal });
      console.log(report.describe(test));
      failures += report.failures.length;
    } catch (error) {
      if (signal.aborted) {
        console.log('Stopped');
        return 130;
      }
      console.error(`${test.name} could not be run:`, error);
      failures += 1;
    }
  }
  return failures > 0 ? 1 : 0;
}
