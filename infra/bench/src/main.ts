import { onStopRequest } from '@sluice/local/parts';
import { UsageError } from '@sluice/service-runtime/command-line';
import { benchmarks } from './catalogue.ts';
import { help, readCommandLine } from './command-line.ts';
import { run } from './run.ts';

const { argv, env } = process;
let signal: AbortSignal | undefined;

try {
  const commandLine = readCommandLine(argv.slice(2), benchmarks);
  if (commandLine.isHelp) {
    console.log(help(benchmarks));
  } else {
    using stopRequest = onStopRequest({ byNpm: env.npm_lifecycle_event !== undefined });
    signal = stopRequest.signal;
    const isClean = await run({ ...commandLine, path: env.PATH ?? '', signal });
    process.exitCode = isClean ? 0 : 1;
  }
} catch (error) {
  if (signal?.aborted) {
    console.log('Stopped');
    process.exitCode = 130;
  } else if (error instanceof UsageError) {
    console.error(`${error.message}; see npm run bench -- --help`);
    process.exitCode = 2;
  } else {
    console.error(error);
    process.exitCode = 1;
  }
}
