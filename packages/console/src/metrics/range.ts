const minuteMs = 60_000;

export interface RangeWords {
  /** On the switch. */
  name: string;
  /** Completes `in the last …`. */
  last: string;
  /** Completes `Invocations …`. */
  perStep: string;
  /** How often the figures are read again while the page is seen. */
  pollMs: number;
}

export const ranges = {
  hour: { name: 'Hour', last: 'hour', perStep: 'per minute', pollMs: 10_000 },
  day: { name: 'Day', last: 'day', perStep: 'per 15 minutes', pollMs: minuteMs },
  week: { name: 'Week', last: 'week', perStep: 'per 2 hours', pollMs: 5 * minuteMs },
  month: { name: 'Month', last: 'month', perStep: 'per 6 hours', pollMs: 5 * minuteMs },
} as const satisfies Record<string, RangeWords>;

export type Range = keyof typeof ranges;

/** The range in the address. Without one it is the hour. */
export interface RangeSearch {
  range?: Exclude<Range, 'hour'>;
}

export function rangeSearch({ range }: Record<string, unknown>): RangeSearch {
  return range === 'day' || range === 'week' || range === 'month' ? { range } : {};
}
