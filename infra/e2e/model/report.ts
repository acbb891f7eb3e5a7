import type { Check } from './checks.ts';
import { showSteps } from './counter-example.ts';
import type { Outcome } from './run-check.ts';

const number = (value: number, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits });

/** Whether a check came out as it must. */
export function isAsExpected({ mustHold }: Check, { isViolated }: Outcome): boolean {
  return isViolated !== mustHold;
}

/** The verdict of one check, with its counter-example. */
export function describe(check: Check, outcome: Outcome): string {
  const { isViolated, states, seconds, memoryMb, steps } = outcome;
  const cost = `${number(states)} states stored, ${number(seconds, 1)} s, ${number(memoryMb)} MB`;
  const verdict = isViolated ? 'violated' : 'holds';
  const surprise = isAsExpected(check, outcome) ? '' : ' NOT AS EXPECTED';
  const example = isViolated ? [`  counter-example of ${steps.length} steps:`, showSteps(steps)] : [];
  return [`  ${verdict}${surprise}: ${cost}`, ...example].join('\n');
}

/** All verdicts, a line each. */
export function table(results: readonly { check: Check; outcome: Outcome }[]): string {
  const rows = results.map(({ check, outcome }) => [
    check.name,
    outcome.isViolated ? 'violated' : 'holds',
    isAsExpected(check, outcome) ? 'as expected' : 'NOT AS EXPECTED',
    number(outcome.states),
    number(outcome.seconds, 1),
  ]);
  const lines = [['check', 'verdict', '', 'states stored', 'seconds'], ...rows];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const pad = (cell: string, column: number) => cell[column > 2 ? 'padStart' : 'padEnd'](widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
