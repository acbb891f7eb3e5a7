const dayMs = 86_400_000;

export interface Step {
  fromMs: number;
  toMs: number;
}

export function stepOf(metrics: { from: string; step_s: number }, at: number): Step {
  const fromMs = Date.parse(metrics.from) + at * metrics.step_s * 1000;
  return { fromMs, toMs: fromMs + metrics.step_s * 1000 };
}

/** `19:41 – 19:42`; with the date, if the range is longer than a day. */
export function stepText({ fromMs, toMs }: Step, rangeMs: number, timeZone: string | undefined): string {
  return formatOf(rangeMs, timeZone).formatRange(fromMs, toMs);
}

/** When a step begins. */
export function startText({ fromMs }: Step, rangeMs: number, timeZone: string | undefined): string {
  return formatOf(rangeMs, timeZone).format(fromMs);
}

function formatOf(rangeMs: number, timeZone: string | undefined): Intl.DateTimeFormat {
  const day = rangeMs > dayMs ? ({ month: 'short', day: 'numeric' } as const) : {};
  return new Intl.DateTimeFormat(undefined, { ...day, hour: 'numeric', minute: '2-digit', timeZone });
}

/** The feed of invocations keeps this much. */
const feedMs = 15 * 60_000;

/** Whether some of the step is still in the feed. */
export function isInFeed({ toMs }: Step, nowMs: number): boolean {
  return toMs > nowMs - feedMs;
}
