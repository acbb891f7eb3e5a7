import { onStopRequest } from '@sluice/local/parts';
import { UsageError } from '@sluice/service-runtime/command-line';
import { type CommandLine, help, list, readCommandLine } from './command-line.ts';
import { runFault } from './fault-test.ts';
import { faultTests } from './table.ts';

try {
  const commandLine = readCommandLine(process.argv.slice(2), faultTests);
  if (commandLine.mode === 'help') console.log(help(faultTests));
  else if (commandLine.mode === 'list') console.log(list(faultTests));
  else process.exitCode = await run(commandLine);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}; see npm run test:faults -- --help`);
  process.exitCode = 2;
}

async function run({ chosen, seed, keep }: CommandLine): Promise<number> {
  using stopRequest = onStopRequest({ byNpm: process.env.npm_lifecycle_event !== undefined });
  const { signal } = stopRequest;
  let failures = 0;
  for (const test of chosen) {
    const log = (line: string) => console.log(`${test.name}: ${line}`);
    try {
      const report = await runFault(test, { seed, log, signal, keep });
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
