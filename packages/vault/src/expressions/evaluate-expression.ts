import { Context, toValueSync } from 'liquidjs';
import type { Json } from '../json.ts';
import { type FilterBudget, filterBudget, spend } from './filter-budget.ts';
import { FilterError, longestGrown } from './filter-record.ts';
import { mayGrow } from './filters.ts';
import { type Expression, filterEngine } from './parse-expressions.ts';
import { textLengthOf } from './text-length.ts';

/** Null where a filter fails or the budget is used up. Never throws, because an error would tell of the data. */
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
      return null; // Liquid throws many kinds of errors; each says that the data does not fit the filter
    }
  }
  return (value ?? null) as Json;
}

/** A context for each run, because it counts the characters that were made in it and then refuses more. */
function runFilter(filter: Expression['filters'][number], value: unknown): unknown {
  const { options } = filterEngine();
  if (!mayGrow(filter.name)) {
    return toValueSync(filter.render(value, new Context({}, options, { sync: true })) as IterableIterator<unknown>);
  }
  // `replace` and `join` ask for their room before they make anything, and `split` at most multiplies its text by ten.
  const most = Math.max(textLengthOf(value), longestGrown);
  if (filter.name === 'split' && most > longestGrown) throw new FilterError('too long');
  const context = new Context({}, options, { sync: true, memoryLimit: most });
  const result = toValueSync(filter.render(value, context) as IterableIterator<unknown>);
  if (textLengthOf(result) > most) throw new FilterError('too long');
  return result;
}
