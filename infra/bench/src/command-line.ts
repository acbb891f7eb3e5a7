import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import type { Benchmark } from './benchmark.ts';

export interface CommandLine {
  isHelp: boolean;
  /** The named benchmarks, or all. */
  chosen: readonly Benchmark[];
  rounds: number;
  seconds: number;
  /** Whether to keep the temporary folder. */
  keep: boolean;
  profileDirectory: string | undefined;
  besideCheckout: string | undefined;
  /** Whether to write results that take more processor time than the stored ones. */
  acceptsSlower: boolean;
}

export function readCommandLine(args: string[], benchmarks: readonly Benchmark[]): CommandLine {
  const { values, positionals } = parse(args);
  const ids = positionals.flatMap((word) => {
    const named = benchmarks.filter(({ name }) => name === word);
    return named.length > 0 ? named.map(({ id }) => id) : [word.toUpperCase()];
  });
  const unknown = ids.filter((id) => !benchmarks.some((benchmark) => benchmark.id === id));
  if (unknown.length > 0) throw new UsageError(`There is no benchmark ${unknown.join(', ')}`);
  return {
    isHelp: values.help,
    chosen: benchmarks.filter(({ id }) => ids.length === 0 || ids.includes(id)),
    rounds: readCount('--rounds', values.rounds),
    seconds: readCount('--seconds', values.seconds),
    keep: values.keep,
    profileDirectory: values.profile,
    besideCheckout: values.beside,
    acceptsSlower: values.accept,
  };
}

function parse(args: string[]) {
  return readOptions({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      keep: { type: 'boolean', default: false },
      profile: { type: 'string' },
      beside: { type: 'string' },
      accept: { type: 'boolean', default: false },
    },
  });
}

const most = 600;

function readCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new UsageError(`${option} must be a whole number from 1 to ${most}; it is "${text}"`);
}

export function help(benchmarks: readonly Benchmark[]): string {
  const list = benchmarks.map(
    ({ id, work, goal, peerName }) => `  ${id.padEnd(6)} ${work}\n         ${goal}; beside ${peerName}`,
  );
  return `Usage: npm run bench -- [options] [benchmark...]

Measures the services, each benchmark beside its peers in the same run, and writes infra/bench/results.json. Without a
name all benchmarks run. Keep the machine quiet meanwhile.

Options:
  --rounds N      rounds that are measured, after one that warms up (default 3)
  --seconds N     length of a measurement in a round (default 5)
  --profile DIR   have the services leave CPU profiles there; figures are lower then, and are not written
  --beside DIR    measure invocations also through the gateway of another checkout, which has its dependencies installed;
                  figures are not written
  --accept        write results even if they take over 3 % more processor time than the stored ones
  --keep          keep the temporary folder, with the logs of all processes
  --help          this text

Benchmarks:
${list.join('\n')}`;
}
