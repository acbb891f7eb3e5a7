import type { Json } from '../json.ts';
import { longestPadding } from './filters.ts';
import type { Expression } from './parse-expressions.ts';
import { textLengthOf } from './text-length.ts';

/**
 * About the longest text that the expression gives, in UTF-16 code units. It depends on the length of the value and on
 * nothing else of it. What filters append stands in the expression itself.
 */
export function mostTextOf({ filters, start, end }: Expression, value: Json | undefined): number {
  const length = textLengthOf(value);
  if (filters.length === 0) return length;
  const pads = filters.some(({ name }) => name === 'pad_left' || name === 'pad_right');
  return (pads ? Math.max(length, longestPadding) : length) + end - start;
}
