import { Context, toValueSync } from 'liquidjs';
import type { Json } from '../json.ts';
import { type FilterBudget, newFilterBudget, spend } from './filter-budget.ts';
import { type Expression, filterEngine } from './parse-expressions.ts';

let context: Context | undefined;

/** Null where a filter fails or the budget is used up. Never throws, because an error would tell of the data. */
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
      return null; // Liquid throws many kinds of errors; each says that the data does not fit the filter
    }
  }
  return (value ?? null) as Json;
}
