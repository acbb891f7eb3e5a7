import { isExact } from '../exact-numbers.ts';
import type { Json } from '../json.ts';
import { cardBrandOf } from './card-brand.ts';
import { type ArgumentCheck, FilterError, type FilterRecord, longestPadding } from './filter-record.ts';
import { parsePath, valueAt } from './path.ts';
import { toText } from './to-text.ts';

const card = '4242424242424242';

const needsLength: ArgumentCheck = ([length = 0]) => {
  const isLength = typeof length === 'number' && Number.isInteger(length) && length >= 0 && length <= longestPadding;
  return isLength ? undefined : `needs a length from 0 to ${longestPadding}`;
};

export const ownFilters: readonly FilterRecord[] = [
  {
    name: 'json',
    takes: "path, such as `'$.number'`",
    gives: 'the field or element at the path, or null',
    example: { filters: "json: '$.expiry.year'", data: { expiry: { year: 2030 } }, result: 2030 },
    check: ([path = '$']) => (parsePath(String(path), '$') ? undefined : "needs a path such as '$.number'"),
    run(value, path = '$') {
      const steps = parsePath(toText(path), '$');
      return steps && valueAt(value, steps);
    },
  },
  {
    name: 'last4',
    takes: '',
    gives: 'the last four characters',
    example: { filters: 'last4', data: card, result: '4242' },
    run: (value) => plainText(value).slice(-4),
  },
  {
    name: 'card_bin',
    takes: '',
    gives: 'the first eight digits of a card number with 16 digits or more, the first six of a shorter one',
    example: { filters: 'card_bin', data: '4242 4242 4242 4242', result: '42424242' },
    run(value) {
      const digits = digitsOf(value);
      return digits.slice(0, digits.length >= 16 ? 8 : 6);
    },
  },
  {
    name: 'card_brand',
    takes: '',
    gives:
      'the network of a card number (12 to 19 digits): `visa`, `mastercard`, `amex`, `discover`, `diners`, `jcb`, `unionpay` or `maestro`; otherwise null',
    example: { filters: 'card_brand', data: '4242 4242 4242 4242', result: 'visa' },
    run: (value) => cardBrandOf(digitsOf(value)),
  },
  {
    name: 'reveal_last',
    takes: `count (0 to ${longestPadding}, default 4), replacement (default \`'X'\`)`,
    gives:
      'the text with its characters replaced. The last characters stay; `count` is their number. Blanks and dashes stay, too. If the text has no more than `count` characters, its last characters are replaced as well',
    example: { filters: "reveal_last: 4, '*'", data: '123-45-6789', result: '***-**-6789' },
    check: needsLength,
    run(value, count = 4, character = 'X') {
      const text = plainText(value);
      const shownFrom = startOfLast(text, Number(count));
      const [mask = 'X'] = toText(character); // the first code point
      return text.slice(0, shownFrom).replace(/[^\- ]/gu, mask === '$' ? '$$' : mask) + text.slice(shownFrom);
    },
  },
  {
    name: 'stringify',
    takes: '',
    gives: 'the value as JSON; text unchanged',
    example: { filters: 'stringify', data: { a: [1] }, result: '{"a":[1]}' },
    run: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  },
  {
    name: 'to_string',
    takes: '',
    gives: 'the value as text',
    example: { filters: 'to_string', data: 7, result: '7' },
    run: (value) => toText(value),
  },
  {
    name: 'to_number',
    takes: '',
    gives:
      'the number in the text. It fails on other text, and on integers above 2^53 − 1, because they would be rounded',
    example: { filters: 'to_number', data: '12.50', result: 12.5 },
    run(value) {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      if (typeof number !== 'number' || !isExact(number))
        throw new FilterError('not a number that can be stored exactly');
      return number;
    },
  },
  {
    name: 'to_boolean',
    takes: '',
    gives: 'true for `true` and 1, false for `false` and 0, in upper or lower case. It fails on anything else',
    example: { filters: 'to_boolean', data: 'True', result: true },
    run(value) {
      const text = toText(value).toLowerCase();
      if (text === 'true' || text === '1') return true;
      if (text === 'false' || text === '0') return false;
      throw new FilterError('neither true nor false');
    },
  },
  {
    name: 'pad_left',
    takes: `length (0 to ${longestPadding}), fill (default: a blank)`,
    gives: 'the text or number, filled on the left',
    example: { filters: "pad_left: 5, '0'", data: '42', result: '00042' },
    check: needsLength,
    run: (value, length = 0, fill = ' ') => plainText(value).padStart(Number(length), toText(fill)),
  },
  {
    name: 'pad_right',
    takes: `length (0 to ${longestPadding}), fill (default: a blank)`,
    gives: 'the text or number, filled on the right',
    example: { filters: "pad_right: 4, '-'", data: '42', result: '42--' },
    check: needsLength,
    run: (value, length = 0, fill = ' ') => plainText(value).padEnd(Number(length), toText(fill)),
  },
];

/** A text of at most `count` code points is masked completely. */
function startOfLast(text: string, count: number): number {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) {
    start -= 1;
    if (start > 0 && (text.codePointAt(start - 1) ?? 0) > 0xffff) start -= 1;
  }
  return start === 0 ? text.length : start;
}

/** Of a card number, which people group with blanks and dashes. */
function digitsOf(value: Json): string {
  return plainText(value).replaceAll(/[ -]/g, '');
}

function plainText(value: Json): string {
  if (typeof value === 'object') throw new FilterError('not text');
  return toText(value);
}
