import { ServiceError } from '@sluice/problems';
import { textLengthOf } from './text-length.ts';

/** How much text the filters of one request may still process, in UTF-16 code units. */
export interface FilterBudget {
  remaining: number;
}

const mostText = 8 * 1024 * 1024;

/** One budget serves a whole request, because short expressions can name a large value again and again. */
export function newFilterBudget(): FilterBudget {
  return { remaining: mostText };
}

/** Filters that read only one member of a value, however large the value is. */
const seeOnePlace: ReadonlySet<string> = new Set(['json']);

/** A budget that was exceeded once stays exceeded. */
export function spend(budget: FilterBudget, filter: string, value: unknown): boolean {
  const seesOnePlace = seeOnePlace.has(filter) && typeof value === 'object';
  budget.remaining -= seesOnePlace ? 1 : textLengthOf(value) + 1;
  return budget.remaining >= 0;
}

/**
 * For callers who sent the values themselves: they get an error instead of storing a half-evaluated result.
 * @throws {ServiceError} `payload_too_large` when the filters needed more than the budget.
 */
export function requireUnspent(budget: FilterBudget): void {
  if (budget.remaining >= 0) return;
  throw new ServiceError('payload_too_large', 'The filters of one request may process at most 8 Mi characters', {
    limit: 'filters',
  });
}
