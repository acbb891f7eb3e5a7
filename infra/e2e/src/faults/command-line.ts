import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { readSeed } from '@sluice/testing';
import type { FaultTest } from './fault-test.ts';

export type CommandLine = ReturnType<typeof readCommandLine>;

/** @throws {UsageError} */
export function readCommandLine(args: string[], tests: readonly FaultTest[]) {
  const { values, positionals } = readOptions({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      list: { type: 'boolean', default: false },
      seed: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.filter((name) => !tests.some((test) => test.name === name));
  if (unknown.length > 0) throw new UsageError(`There is no fault test ${unknown.join(', ')}`);
  return {
    mode: values.help ? 'help' : values.list ? 'list' : 'run',
    /** Those that were named, or all. */
    chosen: tests.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
    seed: readSeed(values.seed),
    keep: values.keep,
  };
}

export function list(tests: readonly FaultTest[]): string {
  return tests.map(({ name, description }) => `  ${name.padEnd(24)} ${description}`).join('\n');
}

export function help(tests: readonly FaultTest[]): string {
  return `Usage: npm run test:faults -- [options] [fault test...]

Runs the platform on stores of its own, disturbs it, and checks what its clients saw. Without a name all run, one after
another. Only processes that were started here are touched.

Options:
  --list       the names
  --seed N     repeat the choices of a run
  --keep       keep the temporary folder, with the logs of all processes
  --help       this text

Fault tests:
${list(tests)}`;
}
