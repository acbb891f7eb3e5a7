import { Context, toValueSync } from 'liquidjs';
import type { Json } from '../json.ts';
import { type FilterBudget, newFilterBudget, spend } from './filter-budget.ts';
import { FilterError } from './filters.ts';
import { type Expression, filterEngine, invalidExpression } from './parse-expressions.ts';

/** Filters read its options and nothing else, so one serves all. */
let context: Context | undefined;

/**
 * The value of an expression over what its reference stands for: the data itself, or what the filters make of it.
 * Keeps its type; null where nothing is left.
 * @throws {ServiceError} `bad_request` with the place, when a filter cannot work on the data; `payload_too_large` when
 * the budget, which the expressions of a request share, is used up. Repeats no data.
 */
export function evaluateExpression(
  { filters, start }: Expression,
  data: Json,
  budget: FilterBudget = newFilterBudget(),
): Json {
  if (filters.length === 0) return data;
  context ??= new Context({}, filterEngine().options, { sync: true });
  let value: unknown = data;
  for (const filter of filters) {
    spend(budget, value);
    try {
      value = toValueSync(filter.render(value, context) as IterableIterator<unknown>);
    } catch (error) {
      const reason = error instanceof FilterError ? error.message : 'cannot work on this data';
      throw invalidExpression(start, `the filter ${filter.name} ${reason}`);
    }
  }
  return (value ?? null) as Json;
}
