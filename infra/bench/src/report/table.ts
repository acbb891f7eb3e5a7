import type { PathFigures } from '../benchmark.ts';
import type { Result } from './results.ts';
import { median, spread } from './statistics.ts';

export function resultTable(results: readonly Result[]): string {
  const heads = ['id', 'work', 'ours', 'peer', '', 'ratio', 'spread', 'goal', 'met'];
  const rows = results.map(
    ({ id, work, unit, ours, peer, peer_name, ratio, spread: [low, high], goal, met, errors }) => [
      id,
      work,
      `${number(ours)} ${unit}`,
      `${number(peer)} ${unit}`,
      peer_name,
      ratio.toFixed(2),
      `${low.toFixed(2)}–${high.toFixed(2)}`,
      goal ?? '–',
      errors > 0 ? `FAILED: ${number(errors)} errors` : met === null ? '–' : met ? 'yes' : 'no',
    ],
  );
  return table(heads, rows);
}

/** Rates and latencies of everything under load: medians, and the lowest and highest rate of a round. */
export function pathTable(id: string, paths: readonly PathFigures[]): string {
  const heads = ['id', 'path', 'req/s', 'lowest–highest', 'p50 ms', 'p99 ms', 'errors'];
  const rows = paths.map(({ name, rounds }) => {
    const rates = rounds.map(({ requestsPerSecond }) => requestsPerSecond);
    const errors = rounds.reduce((sum, figures) => sum + figures.errors, 0);
    return [
      id,
      name,
      number(median(rates)),
      spread(rates).map(number).join('–'),
      median(rounds.map(({ p50Ms }) => p50Ms)).toFixed(2),
      median(rounds.map(({ p99Ms }) => p99Ms)).toFixed(2),
      number(errors),
    ];
  });
  return table(heads, rows);
}

/** Three decimals for small numbers, none for large ones. */
function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 3 : 0 });
}

function table(heads: string[], rows: string[][]): string {
  const lines = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
