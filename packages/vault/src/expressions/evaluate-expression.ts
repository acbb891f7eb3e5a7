import { Context, toValueSync } from 'liquidjs';
import type { Json } from '../json.ts';
import { type FilterBudget, filterBudget, spend } from './filter-budget.ts';
import { FilterError, longestGrown } from './filter-record.ts';
import { mayGrow } from './filters.ts';
import { type Expression, filterEngine } from './parse-expressions.ts';
import { textLengthOf } from './text-length.ts';

/**
 * Null if a filter fails or the budget is used up. Never throws, because an error would reveal something about the
 * data.
 */
export function evaluateExpression(
  { filters }: Pick<Expression, 'filters'>,
  data: Json,
  budget: FilterBudget = filterBudget(),
): Json {
  let value: unknown = data;
  for (const filter of filters) {
    if (!spend(budget, filter.name, value)) return null;
    try {
      value = runFilter(filter, value);
    } catch {
      return null; // Liquid throws many kinds of errors; each means that the data does not fit the filter
    }
  }
  return (value ?? null) as Json;
}

/** A new context for each run, because it counts the characters created in it and refuses more. */
function runFilter(filter: Expression['filters'][number], value: unknown): unknown {
  const { options } = filterEngine();
  if (!mayGrow(filter.name)) {
    return toValueSync(filter.render(value, new Context({}, options, { sync: true })) as IterableIterator<unknown>);
  }
  // `replace` and `join` check their limit before they create anything, and `split` multiplies its text at most by ten.
  const most = Math.max(textLengthOf(value), longestGrown);
  if (filter.name === 'split' && most > longestGrown) throw new FilterError('too long');
  const context = new Context({}, options, { sync: true, memoryLimit: most });
  const result = toValueSync(filter.render(value, context) as IterableIterator<unknown>);
  if (textLengthOf(result) > most) throw new FilterError('too long');
  return result;
}
