import type { Start } from '../protocol.ts';
import { brandOf, cardKindOf, isWholeNumber, longestNumber } from './cards.ts';
import { digitsOf } from './digits.ts';
import type { Entry } from './entry.ts';
import { formatExpiry, readExpiry, settleExpiry } from './format-expiry.ts';
import { formatCvc, formatNumber } from './format-number.ts';

const input = (name: string, autocomplete: string, placeholder: string) => ({
  ...{ name, autocomplete, placeholder },
  inputmode: 'numeric',
  spellcheck: 'false',
});

const number: Omit<Entry, 'title'> = {
  attributes: input('cardnumber', 'cc-number', '1234 1234 1234 1234'),
  format: formatNumber,
  read: (text) => (isWholeNumber(digitsOf(text)) ? { number: digitsOf(text) } : undefined),
  tell(text, isLeft) {
    const digits = digitsOf(text);
    const brand = brandOf(digits);
    // While a number is typed, its last four digits change with each keystroke, and together they would reveal the whole number.
    const isFinal = isLeft || digits.length === longestNumber(digits);
    return { name: cardKindOf(digits).name, ...(brand && { brand }), ...(isFinal && { last4: digits.slice(-4) }) };
  },
};

const expiry: Omit<Entry, 'title'> = {
  attributes: input('cc-exp', 'cc-exp', 'MM / YY'),
  format: formatExpiry,
  settle: settleExpiry,
  read: (text) => readExpiry(text, new Date()),
};

const cvc: Omit<Entry, 'title'> = {
  attributes: input('cvc', 'cc-csc', 'CVC'),
  format: formatCvc,
  followsNumber: true,
  read(text, of = '') {
    const isRight = /^\d+$/.test(text) && cardKindOf(digitsOf(of)).cvcLengths.includes(text.length);
    return isRight ? { cvc: text } : undefined;
  },
};

/** The inputs of a field, in their order. */
export function entriesOf({ kind, title, words = {} }: Start): Entry[] {
  if (kind !== 'card') return [{ title, ...(kind === 'number' ? number : kind === 'expiry' ? expiry : cvc) }];
  return [
    { ...number, title: words.number ?? 'Card number' },
    { ...expiry, title: words.expiry ?? 'Expiry date' },
    { ...cvc, title: words.cvc ?? 'Security code' },
  ];
}
