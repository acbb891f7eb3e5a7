import type { LoadFigures } from './load-generator.ts';

const milliseconds: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Parses the output of `wrk --latency`. @throws if a figure is missing, as when no request was answered. */
export function readWrkOutput(output: string): LoadFigures {
  return {
    requestsPerSecond: Number(find(output, /^Requests\/sec:\s+([\d.]+)$/m)[1]),
    p50Ms: readPercentile(output, 50),
    p99Ms: readPercentile(output, 99),
    errors: readSocketErrors(output) + Number(/^\s*Non-2xx or 3xx responses: (\d+)$/m.exec(output)?.[1] ?? 0),
  };
}

function readPercentile(output: string, percent: number): number {
  const [, number, unit = ''] = find(output, new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m|h) *$`, 'm'));
  return Number(number) * (milliseconds[unit] ?? Number.NaN);
}

/** For example `Socket errors: connect 0, read 3, write 0, timeout 1`; absent where there were none. */
function readSocketErrors(output: string): number {
  const [, list = ''] = /^\s*Socket errors: (.+)$/m.exec(output) ?? [];
  return list.match(/\d+/g)?.reduce((sum, count) => sum + Number(count), 0) ?? 0;
}

function find(output: string, pattern: RegExp): RegExpExecArray {
  const found = pattern.exec(output);
  if (!found) throw new Error(`wrk printed something unexpected:\n${output}`);
  return found;
}
