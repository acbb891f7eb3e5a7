import { isCardNumber } from '@sluice/vault';
import fc from 'fast-check';
import { brandOf, isWholeNumber, longestNumber, showNumber } from './cards.ts';
import { digitsOf } from './digits.ts';

const digits = fc.stringMatching(/^\d{0,19}$/);

test.each([
  ['4', 'visa'],
  ['5', undefined],
  ['51', 'mastercard'],
  ['222', undefined],
  ['2221', 'mastercard'],
  ['2720', 'mastercard'],
  ['2721', undefined],
  ['34', 'amex'],
  ['37', 'amex'],
  ['6011', 'discover'],
  ['65', 'discover'],
  ['36', 'diners'],
  ['3528', 'jcb'],
  ['62', 'unionpay'],
  ['504175', undefined],
  ['67', 'maestro'],
  ['9', undefined],
])('a number that begins with %s is of %s', (beginning, brand) => {
  expect(brandOf(beginning)).toBe(brand);
});

test('once a brand is known, more digits do not change it', () => {
  fc.assert(
    fc.property(digits, fc.nat(19), (all, length) => {
      const brand = brandOf(all.slice(0, length));
      if (brand) expect(brandOf(all)).toBe(brand);
    }),
  );
});

test('what counts as whole is a card number to the vault too', () => {
  const beginning = fc.constantFrom('4', '51', '2221', '34', '6011', '36', '3528', '62', '5018', '9');
  fc.assert(
    fc.property(beginning, digits, (first, rest) => {
      const number = (first + rest).slice(0, 19);
      if (isWholeNumber(number)) expect(isCardNumber(number)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  '4242424242424242',
  '5555555555554444',
  '2223003122003222',
  '378282246310005',
  '6011111111111117',
  '3056930009020004',
  '36227206271667',
  '3566002020360505',
  '6200000000000005',
  '6205500000000000004',
])('%s is whole, and one digit less or another one is not', (number) => {
  expect(isWholeNumber(number)).toBe(true);
  if (!number.startsWith('62')) {
    expect(isWholeNumber(number.slice(0, -1))).toBe(false);
    expect(isWholeNumber(number.slice(0, -1) + ((Number(number.at(-1)) + 1) % 10))).toBe(false);
  }
});

test('showing a number keeps its digits', () => {
  fc.assert(fc.property(digits, (number) => expect(digitsOf(showNumber(number))).toBe(number)));
  fc.assert(fc.property(digits, (number) => expect(longestNumber(number)).toBeGreaterThanOrEqual(15)));
});
