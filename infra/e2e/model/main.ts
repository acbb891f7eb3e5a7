import { onStopRequest } from '@sluice/local/parts';
import { UsageError } from '@sluice/service-runtime/command-line';
import { checks } from './checks.ts';
import { help, readCommandLine } from './command-line.ts';
import { run } from './run.ts';
import { ModelError } from './run-program.ts';

const { argv, env } = process;
using stop = onStopRequest({ byNpm: env.npm_lifecycle_event !== undefined });

try {
  const { isHelp, ...commandLine } = readCommandLine(argv.slice(2), checks);
  if (isHelp) {
    console.log(help(checks));
  } else {
    const isExpected = await run({ ...commandLine, path: env.PATH ?? '', signal: stop.signal });
    process.exitCode = isExpected ? 0 : 1;
  }
} catch (error) {
  if (stop.signal.aborted) {
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
