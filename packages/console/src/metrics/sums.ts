/** One for each step. Null where nothing was recorded, which is not the same as nothing. */
export type Counts = readonly (number | null)[];

/** Undefined if every step is unknown. */
export function sumOf(counts: Counts): number | undefined {
  return counts.reduce<number | undefined>((sum, count) => (count === null ? sum : (sum ?? 0) + count), undefined);
}

/** In each step the errors of all causes. Without any it is 0, but only where the step is known. */
export function failuresOf({
  requests,
  errors,
}: {
  requests: Counts;
  errors: Readonly<Record<string, Counts>>;
}): Counts {
  const causes = Object.values(errors);
  return requests.map((all, at) => (all === null ? null : (sumOf(causes.map((counts) => counts[at] ?? null)) ?? 0)));
}

/** The step with the highest count; undefined if nothing was counted. */
export function peakOf(counts: Counts): { step: number; count: number } | undefined {
  const count = Math.max(0, ...counts.map((each) => each ?? 0));
  return count === 0 ? undefined : { step: counts.indexOf(count), count };
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const percentTenths = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** `2.5 % of all`, with a decimal below 10 %. There is no part of nothing. */
export function shareText(part: number | undefined, all: number | undefined): string {
  if (part === undefined || all === undefined) return '';
  if (all === 0) return 'nothing was invoked';
  const share = part / all;
  return `${(share < 0.1 ? percentTenths : percent).format(share)} of all`;
}

const whole = new Intl.NumberFormat();
const tenths = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

export function countText(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : whole.format(count);
}

export function millisecondsText(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return `${value < 10 ? tenths.format(value) : whole.format(Math.round(value))} ms`;
}
