import { Context, toValueSync } from 'liquidjs';
import type { Json } from '../json.ts';
import { type FilterBudget, newFilterBudget, spend } from './filter-budget.ts';
import { type Expression, filterEngine } from './parse-expressions.ts';

/** Filters read its options and nothing else, so one serves all. */
let context: Context | undefined;

/**
 * The value of an expression over what its reference stands for: the data itself, or what the filters make of it.
 * Keeps its type; null where nothing is left, where a filter cannot work on the data, and where the budget, which the
 * expressions of a request share, is used up. It throws nothing, because an error that depends on the data would tell
 * the caller about the data.
 */
export function evaluateExpression(
  { filters }: Pick<Expression, 'filters'>,
  data: Json,
  budget: FilterBudget = newFilterBudget(),
): Json {
  if (filters.length === 0) return data;
  context ??= new Context({}, filterEngine().options, { sync: true });
  let value: unknown = data;
  for (const filter of filters) {
    if (!spend(budget, filter.name, value)) return null;
    try {
      value = toValueSync(filter.render(value, context) as IterableIterator<unknown>);
    } catch {
      return null; // Liquid throws errors of many kinds, and each of them says that the data does not fit the filter.
    }
  }
  return (value ?? null) as Json;
}
