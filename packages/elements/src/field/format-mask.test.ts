import fc from 'fast-check';
import { Keyboard } from '../testing/keyboard.ts';
import { fillsMask, formatByMask } from './format-mask.ts';

const ssn = () => new Keyboard(formatByMask('999-99-9999'));

test.each([
  ['999-99-9999', '123456789', '123-45-6789|'],
  ['999-99-9999', '1234', '123-4|'],
  ['(999) 999', '123456', '(123) 456|'],
  ['(999)', '123', '(123)|'],
  ['aa-99', 'ab12', 'ab-12|'],
  ['aa-99', '1ab12', 'ab-12|'],
  ['**-**', 'a1b2', 'a1-b2|'],
])('by the mask %s, %s is shown, typed or pasted', (mask, keys, shown) => {
  expect(`${new Keyboard(formatByMask(mask)).type(keys)}`).toBe(shown);
  expect(`${new Keyboard(formatByMask(mask)).insert(keys)}`).toBe(shown);
  expect(`${new Keyboard(formatByMask(mask)).insert(shown.slice(0, -1))}`).toBe(shown);
});

test('the caret stays where the person types', () => {
  const typed = ssn().type('12345678').at(1);
  expect(`${typed.insert('9')}`).toBe('19|2-34-5678');
  expect(`${typed.insert('0')}`).toBe('19|2-34-5678');
  expect(`${typed.at(4).backspace()}`).toBe('19|3-45-678');
});

test('what fits no more after a deletion stays, so that it can be corrected', () => {
  const typed = new Keyboard(formatByMask('aa-99')).type('ab12').at(1);
  expect(`${typed.backspace()}`).toBe('|b-12');
  expect(fillsMask('aa-99', typed.shown.text)).toBe(false);
  expect(`${typed.insert('c')}`).toBe('c|b-12');
});

test('a mask is filled when each place is', () => {
  expect(fillsMask('999-99-9999', '123-45-6789')).toBe(true);
  expect(fillsMask('999-99-9999', '123-45-678')).toBe(false);
  expect(fillsMask('aa99', 'a123')).toBe(false);
});

test('letters and digits that are no places are refused', () => {
  expect(() => formatByMask('+1 999')).toThrow('1');
});

test('formatting again changes nothing', () => {
  const format = formatByMask('99-aa(**)');
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), fc.nat(20), (text, caret) => {
      const shown = format({ text, caret: Math.min(caret, text.length) }, '');
      expect(format(shown, shown.text).text).toBe(shown.text);
      expect(shown.caret).toBeLessThanOrEqual(shown.text.length);
    }),
  );
});
