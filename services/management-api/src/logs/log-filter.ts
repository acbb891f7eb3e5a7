import { parseDate } from '@sluice/database';
import type { LogFilter } from './log.queries.ts';
import { logFilters } from './log.schema.ts';

/** In a fixed order, with normalized dates. */
export function filterOf(query: LogFilter): LogFilter {
  const given = Object.keys(logFilters).flatMap((name) => {
    const value = query[name as keyof LogFilter];
    if (value === undefined) return [];
    return [[name, name.endsWith('_date') ? parseDate(value)?.toISOString() : value]];
  });
  return Object.fromEntries(given);
}
