const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mostTicks = 7;

const intervals = [
  ...[5 * minuteMs, 10 * minuteMs, 15 * minuteMs, 30 * minuteMs],
  ...[hourMs, 2 * hourMs, 3 * hourMs, 4 * hourMs, 6 * hourMs, 12 * hourMs],
  ...[dayMs, 2 * dayMs, 5 * dayMs, 10 * dayMs],
];

interface TimeTicks {
  atMs: number[];
  /** The ticks are days, so that their label is a date. */
  areDays: boolean;
}

/** At most seven round times between both. `offsetMs` is what the zone's clocks are ahead of UTC. */
export function timeTicks(fromMs: number, toMs: number, offsetMs: number): TimeTicks {
  const intervalMs = intervals.find((each) => (toMs - fromMs) / each <= mostTicks) ?? toMs - fromMs;
  const atMs: number[] = [];
  const first = Math.ceil((fromMs + offsetMs) / intervalMs) * intervalMs - offsetMs;
  for (let at = first; at < toMs; at += intervalMs) atMs.push(at);
  return { atMs, areDays: intervalMs >= dayMs };
}

/** The least round number that is not below the value, and whose half is round, too. 2 for 0. */
export function roundAbove(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 4, 6, 8, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}

/** Where the values are unknown: from each such step to the one after the last, in parts of the whole. */
export function unknownParts(values: readonly (number | null)[]): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  for (const [at, value] of values.entries()) {
    if (value !== null) continue;
    const last = parts.at(-1);
    const from = at / values.length;
    if (last && values[at - 1] === null) last.to = (at + 1) / values.length;
    else parts.push({ from, to: (at + 1) / values.length });
  }
  return parts;
}

/** What the clocks of the zone, or of the reader, are ahead of UTC at a moment. */
export function zoneOffsetMs(atMs: number, timeZone: string | undefined): number {
  return timeZone === 'UTC' ? 0 : -new Date(atMs).getTimezoneOffset() * minuteMs;
}
