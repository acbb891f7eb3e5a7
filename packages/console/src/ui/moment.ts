import type { Preferences } from '../api/preferences.ts';

export type Zone = Preferences['zone'];

/** A moment as the browser's field has it: in this zone, without naming it, to the minute. Empty for no moment. */
export function fieldText(value: string | undefined, zone: Zone): string {
  const moment = new Date(value ?? '');
  if (Number.isNaN(moment.getTime())) return '';
  const offset = zone === 'utc' ? 0 : moment.getTimezoneOffset();
  return new Date(moment.getTime() - offset * minute).toISOString().slice(0, 16);
}

/** The moment, in ISO 8601, that {@link fieldText} shows so. undefined while it is not complete. */
export function momentOf(text: string, zone: Zone): string | undefined {
  const moment = new Date(zone === 'utc' ? `${text}Z` : text);
  return moment.getFullYear() >= firstYear ? moment.toISOString() : undefined;
}

/** While somebody types a year, it has fewer digits. */
const firstYear = 1970;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** After a week a date says more than a number of days. */
const longest = 7 * day;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `3 minutes ago` or `in 2 days`; the date, if it is more than a week away. Seconds are rounded down to tens. */
export function relativeText(at: string, now: number, zone: Zone): string {
  const distance = Date.parse(at) - now;
  const size = Math.abs(distance);
  const count = (unit: number) => Math.sign(distance) * Math.floor(size / unit);
  if (size < 10 * second) return 'just now';
  if (size < minute) return relative.format(count(10 * second) * 10, 'second');
  if (size < hour) return relative.format(count(minute), 'minute');
  if (size < day) return relative.format(count(hour), 'hour');
  return size < longest ? relative.format(count(day), 'day') : formatsOf(zone).date.format(Date.parse(at));
}

/** A moment to the second, with the name of the zone. */
export function exactText(at: string, zone: Zone): string {
  return formatsOf(zone).exact.format(Date.parse(at));
}

/** A moment of today, to the millisecond. */
export function clockText(at: string, zone: Zone): string {
  return formatsOf(zone).clock.format(Date.parse(at));
}

type Formats = ReturnType<typeof createFormats>;

const formats: Partial<Record<Zone, Formats>> = {};

/** Created once for each zone, because that takes longer than formatting a page. */
function formatsOf(zone: Zone): Formats {
  formats[zone] ??= createFormats(zone);
  return formats[zone];
}

function createFormats(zone: Zone) {
  const given = zone === 'utc' ? { timeZone: 'UTC' } : {};
  const date = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const named = { timeZoneName: 'short', ...given } as const;
  const milliseconds = { second: '2-digit', fractionalSecondDigits: 3 } as const;
  return {
    date: new Intl.DateTimeFormat(undefined, { ...date, ...given }),
    exact: new Intl.DateTimeFormat(undefined, { ...date, ...time, second: '2-digit', ...named }),
    clock: new Intl.DateTimeFormat(undefined, { ...time, ...milliseconds, ...named }),
  };
}
