import fc from 'fast-check';
import { Keyboard } from '../testing/keyboard.ts';
import { digitsOf } from './digits.ts';
import { formatCvc, formatNumber } from './format-number.ts';

const keyboard = () => new Keyboard(formatNumber);

test.each([
  ['4242424242424242', '4242 4242 4242 4242|'],
  ['378282246310005', '3782 822463 10005|'],
  ['30569309025904', '3056 930902 5904|'],
  ['3056930009020004', '3056 9300 0902 0004|'],
  ['6205500000000000004', '6205 5000 0000 0000 004|'],
  ['42424', '4242 4|'],
])('%s is shown in groups, typed or pasted', (digits, shown) => {
  expect(`${keyboard().type(digits)}`).toBe(shown);
  expect(`${keyboard().insert(digits)}`).toBe(shown);
});

test.each(['6205500000000000004', '620550 0000000000004', ' 6205500000000000004\n', '٦٢٠٥٥٠٠٠٠٠٠٠٠٠٠٠٠٠٤'])(
  'a paste of 19 digits as people copy them: %j',
  (text) => {
    expect(`${keyboard().insert(text)}`).toBe('6205 5000 0000 0000 004|');
  },
);

describe('a paste of a number with something behind it', () => {
  const numbers = ['4242 4242 4242 4242', '5555 5555 5555 4444', '3782 822463 10005', '6205 5000 0000 0000'];
  const months = Array.from({ length: 12 }, (_, at) => String(at + 1).padStart(2, '0'));
  const years = Array.from({ length: 10 }, (_, at) => String(at + 26));
  const dates = months.flatMap((month) => years.flatMap((year) => [`${month}/${year}`, `${month}/20${year}`]));

  test.each(numbers)('%s takes only the number, whatever the date behind it', (number) => {
    for (const date of dates) {
      for (const text of [
        `${number} ${date}`,
        `${number}, exp. ${date}`,
        `${number.replaceAll(' ', '')}\t${date} 123`,
      ]) {
        expect([text, `${keyboard().insert(text)}`]).toEqual([text, `${number}|`]);
      }
    }
  });

  test.each([
    ['Card: 4242 4242 4242 4242', '4242 4242 4242 4242|'],
    ['\u202a4242 4242 4242 4242\u202c', '4242 4242 4242 4242|'],
    ['4242–4242–4242–4242', '4242 4242 4242 4242|'],
    ['４２４２　４２４２　４２４２　４２４２　０２／２６', '4242 4242 4242 4242|'],
    ['4242 4242 4242 4242 02 26', '4242 4242 4242 4242|'],
    ['4242424242424242 0226', '4242 4242 4242 4242|'],
    ['3782 822463 10005 1234', '3782 822463 10005|'],
    // Nothing was cut, and all digits together are no card number: the person sees what is too much.
    ['4242 4242 4242 4242 123', '4242 4242 4242 4242 123|'],
  ])('%j is read', (text, shown) => {
    const keys = keyboard().insert(text);
    expect(`${keys}`).toBe(shown);
    expect(keys.shown.isRefused).toBeUndefined();
  });

  test.each([
    // UnionPay has no check digit: 16 digits and a code, or a number of 19.
    '6205 5000 0000 0000 004',
    '6205-5000-0000-0000-004',
    '6205 5000 0000 0000 004 02/26',
    // Too long, and no part of it is a number.
    '55555555555544441',
    '4242 4242 4242 4241 4242 4242',
  ])('%j is refused, because it is not clear what is meant', (text) => {
    expect(`${keyboard().insert(text)}`).toBe('|');
    expect(keyboard().insert(text).shown.isRefused).toBe(true);
  });

  test('over another number leaves that as it was', () => {
    const keys = keyboard().type('4242424242424242').at(0);
    expect(`${keys.insert('6205 5000 0000 0000 004', 19)}`).toBe('4242 4242 4242 4242|');
    expect(keys.shown.isRefused).toBe(true);
    expect(keys.at(19).type('4').shown.isRefused).toBeUndefined();
  });

  test('groups that the field itself has made say nothing about groups', () => {
    expect(`${keyboard().type('620550000000').insert('0000004')}`).toBe('6205 5000 0000 0000 004|');
    expect(`${keyboard().type('6205500000000000').insert('004')}`).toBe('6205 5000 0000 0000 004|');
    expect(`${keyboard().type('6205500000000000').insert(' 004')}`).toBe('6205 5000 0000 0000|');
  });
});

test('a digit is deleted from a number, also if the rest would be of a network with shorter ones', () => {
  expect(`${keyboard().type('6222200000000000000').at(1).backspace()}`).toBe('|2222 0000 0000 0000 00');
});

test('the caret stays behind the digit that was typed in the middle', () => {
  const typed = keyboard().type('424242424242').at(2);
  expect(`${typed.insert('9')}`).toBe('429|4 2424 2424 2');
  expect(`${typed.insert('9')}`).toBe('4299| 4242 4242 42');
  expect(`${typed.insert('9')}`).toBe('4299 9|424 2424 242');
});

test('Backspace behind a blank deletes the digit before it', () => {
  const typed = keyboard().type('42424242').at(5);
  expect(`${typed.backspace()}`).toBe('424|4 242');
  expect(`${keyboard().type('42424').backspace()}`).toBe('4242|');
});

test('what is typed into the middle of a full number has no room', () => {
  expect(`${keyboard().type('378282246310005').at(6).insert('9')}`).toBe('3782 8|22463 10005');
  expect(`${keyboard().type('378282246310005').type('9')}`).toBe('3782 822463 10005|');
});

test('what is pasted over a selection takes its place', () => {
  const typed = keyboard().type('4242424242424242').at(0);
  expect(`${typed.insert('378282246310005', 19)}`).toBe('3782 822463 10005|');
});

test('a security code has four digits at most', () => {
  expect(`${new Keyboard(formatCvc).type('12 345')}`).toBe('1234|');
  expect(`${new Keyboard(formatCvc).type('1234').at(1).insert('9')}`).toBe('1|234');
  expect(`${new Keyboard(formatCvc).insert('12345')}`).toBe('|');
});

const edit = fc.oneof(
  fc.record({ at: fc.nat(24), text: fc.stringMatching(/^[0-9 x-]{0,20}$/), over: fc.nat(6) }),
  fc.record({ at: fc.nat(24), back: fc.constant(true) }),
);

test('after any edits the caret has the digits before it that it had, and formatting again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), (edits) => {
      const keys = keyboard();
      for (const one of edits) {
        keys.at(Math.min(one.at, keys.shown.text.length));
        const before = keys.shown;
        const digits = digitsOf(before.text);
        if ('back' in one) {
          keys.backspace();
          const left = digitsOf(before.text.slice(0, before.caret));
          const expected = left.slice(0, -1) + digits.slice(left.length);
          expect(digitsOf(keys.shown.text)).toBe(expected);
          expect(digitsOf(keys.shown.text.slice(0, keys.shown.caret))).toBe(left.slice(0, -1));
        } else keys.insert(one.text, one.over);
        const { text, caret } = keys.shown;
        expect(caret).toBeGreaterThanOrEqual(0);
        expect(caret).toBeLessThanOrEqual(text.length);
        expect(text).toMatch(/^(\d+( \d+)*)?$/);
        expect(formatNumber(keys.shown, text)).toEqual(keys.shown);
      }
    }),
  );
});
