import { ServiceError } from '@sluice/problems';
import { textLengthOf } from './text-length.ts';

/** Text that the expressions of one request may still process, in UTF-16 code units. */
export interface FilterBudget {
  remaining: number;
  leftToFill: number;
}

const mostText = 8 * 1024 * 1024;
/** A page shows at most 8 MiB and a mask 1 MiB, so longer masks would not be shown either. */
const mostFilled = 9 * 1024 * 1024;

/** For a whole request, because short expressions can name a large value again and again. */
export function filterBudget(): FilterBudget {
  return { remaining: mostText, leftToFill: mostFilled };
}

/** Filters that read only one member, so the size of the value does not matter. */
const seeOnePlace: ReadonlySet<string> = new Set(['json']);

export function spend(budget: FilterBudget, filter: string, value: unknown): boolean {
  const seesOnePlace = seeOnePlace.has(filter) && typeof value === 'object';
  budget.remaining -= seesOnePlace ? 1 : textLengthOf(value) + 1;
  return budget.remaining >= 0;
}

/** For callers who sent the values themselves, so that no partly evaluated result is stored. */
export function requireUnspent(budget: FilterBudget): void {
  requireFilled(budget);
  if (budget.remaining >= 0) return;
  throw new ServiceError('payload_too_large', 'The filters of one request may process at most 8 Mi characters', {
    limit: 'filters',
  });
}

export function requireFilled({ leftToFill }: FilterBudget): void {
  if (leftToFill >= 0) return;
  throw new ServiceError(
    'payload_too_large',
    'The results of all masks, search indexes and fingerprint expressions of one request may have at most 9 Mi characters in total',
    { limit: 'filters' },
  );
}
