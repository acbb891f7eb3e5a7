/** One step of a counter-example. */
export interface Step {
  /** How often time had passed before it. */
  tick: number;
  /** Who did it, for example `writer 1`. */
  who: string;
  what: string;
}

/** Reads the steps, `@ who: what`, that the model prints while spin follows a trail; other lines are spin's own. */
export function readSteps(output: string): Step[] {
  const steps: Step[] = [];
  let tick = 0;
  for (const line of output.split('\n')) {
    const text = line.match(/^\s*@ (.*)$/)?.[1];
    if (text === undefined) continue;
    if (text === 'time passes') {
      tick += 1;
    } else {
      const colon = text.indexOf(': ');
      steps.push({ tick, who: text.slice(0, colon), what: text.slice(colon + 2) });
    }
  }
  return steps;
}

/** A step on each line. */
export function showSteps(steps: readonly Step[]): string {
  const width = Math.max(...steps.map(({ who }) => who.length));
  return steps
    .map(({ tick, who, what }, index) => `  ${`${index + 1}`.padStart(4)}  tick ${tick}  ${who.padEnd(width)}  ${what}`)
    .join('\n');
}
