import { ServiceError } from '@sluice/problems';
import { textLengthOf } from './text-length.ts';

/** How much text the filters of one request may still go through, in UTF-16 code units. Evaluations use it up. */
export interface FilterBudget {
  remaining: number;
}

const mostText = 8 * 1024 * 1024;

/** One for each request: a few short expressions can name a large value again and again. */
export function newFilterBudget(): FilterBudget {
  return { remaining: mostText };
}

/** These go to one place of a value, however large it is. */
const seeOnePlace: ReadonlySet<string> = new Set(['json']);

/** Whether this filter may still go through the value. Once one may not, they may go through nothing more. */
export function spend(budget: FilterBudget, filter: string, value: unknown): boolean {
  const seesOnePlace = seeOnePlace.has(filter) && typeof value === 'object';
  budget.remaining -= seesOnePlace ? 1 : textLengthOf(value) + 1;
  return budget.remaining >= 0;
}

/**
 * For callers who brought the values themselves, so that what is stored is never half evaluated.
 * @throws {ServiceError} `payload_too_large` when the filters would have gone through more than the budget.
 */
export function requireUnspent(budget: FilterBudget): void {
  if (budget.remaining >= 0) return;
  throw new ServiceError('payload_too_large', 'The filters of one request may go through at most 8 Mi characters');
}
