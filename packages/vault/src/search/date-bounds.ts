import { parseDate } from '@sluice/database';
import type { Text } from './parse-query.ts';
import { queryFault } from './query-reader.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** ISO 8601. A date without a time stands for its UTC day. */
export function boundsOf({ text, at }: Text): { first: string; last: string } {
  const moment = parseDate(text);
  if (!moment) throw queryFault(at, 'expected an ISO 8601 date');
  const isDay = text.length === 'YYYY-MM-DD'.length;
  const last = isDay ? new Date(moment.getTime() + dayMs - 1) : moment;
  return { first: moment.toISOString(), last: last.toISOString() };
}
