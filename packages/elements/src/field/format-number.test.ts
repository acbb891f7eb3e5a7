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

test.each([
  '6205 5000 0000 0000 004',
  ' 6205-5000-0000-0000-004\n',
  '６２０５ ５０００ ００００ ００００ ００４',
  '٦٢٠٥٥٠٠٠٠٠٠٠٠٠٠٠٠٠٤',
])('a paste of 19 digits as people copy them: %j', (text) => {
  expect(`${keyboard().insert(text)}`).toBe('6205 5000 0000 0000 004|');
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
