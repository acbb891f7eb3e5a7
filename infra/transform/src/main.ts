import { enableCompileCache } from 'node:module';
import { UsageError } from '@sluice/service-runtime/command-line';
import { type CommandLine, help, readCommandLine } from './command-line.ts';
import { runHostile } from './hostile.ts';
import { runMixed } from './mixed.ts';
import { testAndWatch, testOnce } from './test-transform.ts';
import { writeTypes } from './write-types.ts';

const output = { out: (text: string) => console.log(text), error: (text: string) => console.error(text) };
enableCompileCache(); // as the services do; threads then start in a third of the time
const headerPrefix = process.env.HEADER_PREFIX || 'SVC';

/** @returns the exit code. */
async function run(line: CommandLine): Promise<number> {
  switch (line.command) {
    case 'help':
      output.out(help);
      return 0;
    case 'types':
      await writeTypes(line, headerPrefix, output);
      return 0;
    case 'hostile':
      return (await runHostile(output)) ? 0 : 1;
    case 'mixed':
      return (await runMixed(output)) ? 0 : 1;
    case 'test':
      if (!line.watch) return (await testOnce(line, headerPrefix, output)) ? 0 : 1;
      await testAndWatch(line, { headerPrefix, output, signal: untilInterrupted() });
      return 0;
  }
}

/** Ctrl-C may arrive twice, because npm passes it on. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

try {
  process.exitCode = await run(readCommandLine(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  output.error(`${error.message}\n\n${help}`);
  process.exitCode = 2;
}
