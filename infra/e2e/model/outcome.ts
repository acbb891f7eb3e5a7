import type { Check } from './checks.ts';

interface Step {
  /** How often time had passed before it. */
  tick: number;
  /** Who did it, for example `writer 1`. */
  who: string;
  what: string;
}

export interface Outcome {
  isViolated: boolean;
  states: number;
  seconds: number;
  memoryMb: number;
  steps: Step[];
}

/** Reads the steps, `@ who: what`, that the model prints while spin follows a trail; other lines are spin's own. */
export function readSteps(output: string): Step[] {
  const steps: Step[] = [];
  let tick = 0;
  for (const [, text = ''] of output.matchAll(/^\s*@ (.*)$/gm)) {
    if (text === 'time passes') {
      tick += 1;
      continue;
    }
    const colon = text.indexOf(': ');
    steps.push({ tick, who: text.slice(0, colon), what: text.slice(colon + 2) });
  }
  return steps;
}

export function showSteps(steps: readonly Step[]): string {
  const width = Math.max(...steps.map(({ who }) => who.length));
  return steps
    .map(({ tick, who, what }, index) => `  ${`${index + 1}`.padStart(4)}  tick ${tick}  ${who.padEnd(width)}  ${what}`)
    .join('\n');
}

const number = (value: number, digits = 0) =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

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

export function table(results: readonly { check: Check; outcome: Outcome }[]): string {
  const rows = results.map(({ check, outcome }) => [
    check.name.padEnd(12),
    (outcome.isViolated ? 'violated' : 'holds').padEnd(8),
    (isAsExpected(check, outcome) ? 'as expected' : 'NOT AS EXPECTED').padEnd(15),
    number(outcome.states).padStart(13),
    `${number(outcome.seconds, 1)} s`.padStart(9),
  ]);
  return [['check'.padEnd(12), 'verdict'.padEnd(24), 'states stored'.padStart(13)], ...rows]
    .map((line) => line.join('  ').trimEnd())
    .join('\n');
}
