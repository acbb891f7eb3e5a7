import type { Log } from '@sluice/sdk';

/** How many values a response guard found. Undefined for a row that is not about that. */
export function guardHitsOf(detail: Log['detail'] | undefined): number | undefined {
  const hits = detail?.guard_hits;
  return typeof hits === 'number' && hits > 0 ? hits : undefined;
}
