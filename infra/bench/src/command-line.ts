import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import type { Benchmark } from './benchmark.ts';

export interface CommandLine {
  isHelp: boolean;
  /** The named benchmarks, or all. */
  chosen: readonly Benchmark[];
  rounds: number;
  seconds: number;
  /** Rows of the large audit log that P15 reads. */
  logRows: number;
  /** Whether to keep the temporary folder. */
  keep: boolean;
  /** Where large tables are kept for the next run. */
  dataDirectory: string | undefined;
  profileDirectory: string | undefined;
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
    logRows: readCount('--log-rows', values['log-rows'], 100_000_000),
    keep: values.keep,
    dataDirectory: values.data,
    profileDirectory: values.profile,
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
      'log-rows': { type: 'string', default: '1000000' },
      keep: { type: 'boolean', default: false },
      data: { type: 'string' },
      profile: { type: 'string' },
    },
  });
}

function readCount(option: string, text: string, most = 600): number {
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
  --log-rows N    rows of the large audit log of P15 (default 1000000; 10000000 take some 15 GB and ten minutes)
  --data DIR      keep the filled log of P15 there with its stack, and use what an earlier run left
  --profile DIR   have the services leave CPU profiles there; figures are lower then, and are not written
  --keep          keep the temporary folder, with the logs of all processes
  --help          this text

Benchmarks:
${list.join('\n')}`;
}
