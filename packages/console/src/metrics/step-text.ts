const dayMs = 86_400_000;

export interface Step {
  fromMs: number;
  toMs: number;
}

export function stepOf(metrics: { from: string; step_s: number }, at: number): Step {
  const fromMs = Date.parse(metrics.from) + at * metrics.step_s * 1000;
  return { fromMs, toMs: fromMs + metrics.step_s * 1000 };
}

/** `19:41 – 19:42`; with the date, if the range is longer than a day. The axis of the chart names the zone. */
export function stepText({ fromMs, toMs }: Step, rangeMs: number, timeZone: string | undefined): string {
  const day = rangeMs > dayMs ? ({ month: 'short', day: 'numeric' } as const) : {};
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const;
  return new Intl.DateTimeFormat(undefined, { ...day, ...time }).formatRange(fromMs, toMs);
}

/** The feed of invocations keeps this much. */
const feedMs = 15 * 60_000;

/** Whether some of the step is still in the feed. */
export function isInFeed({ toMs }: Step, nowMs: number): boolean {
  return toMs > nowMs - feedMs;
}
