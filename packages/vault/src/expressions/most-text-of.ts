import type { Json } from '../json.ts';
import { longestGrown, longestPadding } from './filter-record.ts';
import { mayGrow } from './filters.ts';
import type { Expression } from './parse-expressions.ts';
import { textLengthOf } from './text-length.ts';

/**
 * An upper estimate of the expression's text, in UTF-16 code units. It depends only on the length of the value. Text
 * that filters append is in the expression itself.
 */
export function mostTextOf(expression: Expression, value: Json | undefined): number {
  const { filters, start, end } = expression;
  const length = textLengthOf(value);
  if (filters.length === 0) return length;
  if (expressionMayGrow(expression)) return Math.max(length, longestGrown) + end - start;
  const pads = filters.some(({ name }) => name === 'pad_left' || name === 'pad_right');
  return (pads ? Math.max(length, longestPadding) : length) + end - start;
}

/** Whether the result can be longer than value, expression and padding together. */
export function expressionMayGrow({ filters }: Expression): boolean {
  return filters.some(({ name }) => mayGrow(name));
}
