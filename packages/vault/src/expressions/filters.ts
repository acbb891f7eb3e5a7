import { filters as builtIn, Liquid } from 'liquidjs';
import type { Json } from '../json.ts';
import { parsePath, valueAt } from './path.ts';
import { toText } from './to-text.ts';

class FilterError extends Error {}

type FilterFunction = (value: Exclude<Json, null>, ...args: Json[]) => Json | undefined;

/** In UTF-16 code units. */
export const longestPadding = 1000;

/** Never called with null, so an absent value stays absent. */
const ownFilters: Record<string, FilterFunction> = {
  json(value, path = '$') {
    const steps = parsePath(toText(path), '$');
    return steps && valueAt(value, steps);
  },
  stringify: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  to_string: (value) => toText(value),
  to_number(value) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) throw new FilterError('not a number');
    return number;
  },
  to_boolean(value) {
    const text = toText(value).toLowerCase();
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw new FilterError('neither true nor false');
  },
  last4: (value) => plainText(value).slice(-4),
  card_bin(value) {
    const digits = plainText(value).replaceAll(/[ -]/g, '');
    return digits.slice(0, digits.length >= 16 ? 8 : 6);
  },
  pad_left: (value, length = 0, fill = ' ') => plainText(value).padStart(Number(length), toText(fill)),
  pad_right: (value, length = 0, fill = ' ') => plainText(value).padEnd(Number(length), toText(fill)),
  reveal_last(value, count = 4, character = 'X') {
    const text = plainText(value);
    const shownFrom = startOfLast(text, Number(count));
    const [mask = 'X'] = toText(character); // the first code point
    return text.slice(0, shownFrom).replace(/[^\- ]/gu, mask === '$' ? '$$' : mask) + text.slice(shownFrom);
  },
};

/** A text of at most `count` code points is masked whole. */
function startOfLast(text: string, count: number): number {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) {
    start -= 1;
    if (start > 0 && (text.codePointAt(start - 1) ?? 0) > 0xffff) start -= 1;
  }
  return start === 0 ? text.length : start;
}

type ArgumentCheck = (args: readonly unknown[]) => string | undefined;

const needsLength: ArgumentCheck = ([length = 0]) => {
  const isLength = typeof length === 'number' && Number.isInteger(length) && length >= 0 && length <= longestPadding;
  return isLength ? undefined : `needs a length from 0 to ${longestPadding}`;
};
const needsText: ArgumentCheck = ([text]) => (text === undefined ? 'needs a text' : undefined);
const needsInteger: ArgumentCheck = ([number]) => (Number.isInteger(number) ? undefined : 'needs a whole number');

/** Checked when the expression is read, before any value is known, so an error reveals no value. */
const argumentChecks: Record<string, ArgumentCheck> = {
  json: ([path = '$']) => (parsePath(String(path), '$') ? undefined : "needs a path such as '$.number'"),
  pad_left: needsLength,
  pad_right: needsLength,
  reveal_last: needsLength,
  append: needsText,
  prepend: needsText,
  remove: needsText,
  slice: ([begin, ...rest]) => needsInteger([begin]) ?? (rest.length > 0 ? needsInteger(rest) : undefined),
  truncate: (args) => (args.length > 0 ? needsInteger(args) : undefined),
};

export function faultInArguments(name: string, args: readonly unknown[]): string | undefined {
  return Object.hasOwn(argumentChecks, name) ? argumentChecks[name]?.(args) : undefined;
}

/** Those filters of Liquid whose result is never much larger than their input. */
const liquidFilters = [
  'append',
  'capitalize',
  'default',
  'downcase',
  'first',
  'last',
  'lstrip',
  'prepend',
  'remove',
  'rstrip',
  'size',
  'slice',
  'strip',
  'truncate',
  'upcase',
] as const;

export function createFilterEngine(): Liquid {
  const liquid = new Liquid({ strictFilters: true, ownPropertyOnly: true, memoryLimit: 50_000_000 });
  for (const name of Object.keys(liquid.tags)) delete liquid.tags[name];
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name);
  for (const name of liquidFilters) {
    const filter = builtIn[name];
    if (!filter) throw new Error(`Liquid has no filter ${name}`);
    liquid.registerFilter(name, filter);
  }
  for (const [name, filter] of Object.entries(ownFilters)) {
    liquid.registerFilter(name, (value: Json | undefined, ...args: Json[]) =>
      value === null || value === undefined ? null : filter(value, ...args),
    );
  }
  return liquid;
}

function plainText(value: Json): string {
  if (typeof value === 'object') throw new FilterError('not text');
  return toText(value);
}
