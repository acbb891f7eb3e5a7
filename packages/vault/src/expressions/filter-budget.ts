import { ServiceError } from '@sluice/problems';

/** How much text the filters of one request may still go through, in UTF-16 code units. Evaluations use it up. */
export interface FilterBudget {
  remaining: number;
}

const mostText = 8 * 1024 * 1024;

/** One for each request: a few short expressions can name a large value again and again. */
export function newFilterBudget(): FilterBudget {
  return { remaining: mostText };
}

/** Whether the filters may still go through this value. Once they may not, they may go through nothing more. */
export function spend(budget: FilterBudget, value: unknown): boolean {
  const isLong = typeof value === 'string' || Array.isArray(value);
  budget.remaining -= isLong ? value.length + 1 : 1;
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
