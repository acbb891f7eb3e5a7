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

/** @throws {ServiceError} `payload_too_large` when the filters would go through more than is left. */
export function spend(budget: FilterBudget, value: unknown): void {
  const isLong = typeof value === 'string' || Array.isArray(value);
  budget.remaining -= isLong ? value.length + 1 : 1;
  if (budget.remaining >= 0) return;
  throw new ServiceError('payload_too_large', 'The filters of one request may go through at most 8 Mi characters');
}
