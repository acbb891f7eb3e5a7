import fc from 'fast-check';
import { Keyboard } from '../testing/keyboard.ts';
import { formatExpiry, readExpiry, settleExpiry } from './format-expiry.ts';

const keyboard = () => new Keyboard(formatExpiry);
const now = new Date('2026-11-27T10:00:00Z');

test.each([
  ['1', '1|'],
  ['12', '12 / |'],
  ['1230', '12 / 30|'],
  ['12/30', '12 / 30|'],
  ['12 / 30', '12 / 30|'],
  ['122030', '12 / 2030|'],
  ['12/2030', '12 / 2030|'],
  ['5', '05 / |'],
  ['530', '05 / 30|'],
  ['0530', '05 / 30|'],
  ['1/30', '01 / 30|'],
  ['1330', '01 / 33|'],
  ['12305', '12 / 30|'],
  ['1220305', '12 / 2030|'],
  // The year of a date with a day is not the day.
  ['12/31/', '12 / 31 / |'],
  ['12/31/2030', '12 / 31 / |'],
  ['12.31.', '12 / 31 / |'],
  ['12/20/', '12 / 20 / |'],
  ['12/30 ', '12 / 30|'],
  ['12/2030/', '12 / 2030|'],
])('%s is typed', (keys, shown) => {
  expect(`${keyboard().type(keys)}`).toBe(shown);
});

test.each([
  ['12/30', '12 / 30|'],
  ['1230', '12 / 30|'],
  ['5/30', '05 / 30|'],
  ['12/2030', '12 / 2030|'],
  ['122030', '12 / 2030|'],
  ['2030-12', '12 / 2030|'],
  ['2030-5', '05 / 2030|'],
  [' 12 - 30 ', '12 / 30|'],
  ['１２／３０', '12 / 30|'],
  ['203012', '12 / 2030|'],
  ['２０３０１２', '12 / 2030|'],
  ['2030-12-31', '12 / 2030|'],
  ['2030-5-1', '05 / 2030|'],
  ['12/31/2030', '12 / 2030|'],
  ['31.12.2030', '12 / 2030|'],
  ['5/31/2030', '05 / 2030|'],
])('%s is pasted or filled in', (text, shown) => {
  expect(`${keyboard().insert(text)}`).toBe(shown);
});

test.each([
  '05/06/2030',
  '12/12/2030',
  '12/31/30',
  '12/45/2030',
  '2030-13',
  '2030-13-01',
  '2030-12-32',
  '12/31/2030/1',
  '12312030',
  '203013',
  '199912',
  '12305',
  '12/1930',
  '1330',
])('%s is refused when it is pasted, because the month or the year is not clear', (text) => {
  expect(`${keyboard().insert(text)}`).toBe('|');
  expect(keyboard().insert(text).shown.isRefused).toBe(true);
  const typed = keyboard().type('1130').at(0);
  expect(`${typed.insert(text, 7)}`).toBe('11 / 30|');
});

test('six digits are a year and a month only if they come into an empty field at once', () => {
  expect(`${keyboard().type('203012')}`).toBe('02 / 03|');
  expect(`${keyboard().type('1').insert('203012')}`).toBe('1|');
  expect(`${keyboard().type('11').at(0).insert('203012', 5)}`).toBe('12 / 2030|');
});

test('a separator behind a year of two digits is taken back with the digit before it', () => {
  const typed = keyboard().type('12/31/');
  expect(`${typed.backspace()}`).toBe('12 / 3|');
  expect(`${typed.type('0')}`).toBe('12 / 30|');
});

test('what a browser fills in takes the place of what was there', () => {
  const typed = keyboard().type('1130').at(0);
  expect(`${typed.insert('05/2031', 7)}`).toBe('05 / 2031|');
});

test('Backspace takes digit after digit', () => {
  const typed = keyboard().type('1230');
  const seen = Array.from({ length: 5 }, () => `${typed.backspace()}`);
  expect(seen).toEqual(['12 / 3|', '12 / |', '1|', '|', '|']);
  expect(`${keyboard().type('5').backspace()}`).toBe('0|');
});

test('a month is corrected while its year stays', () => {
  const typed = keyboard().type('1230').at(2);
  expect(`${typed.backspace()}`).toBe('1| / 30');
  expect(`${typed.insert('1')}`).toBe('11| / 30');
  expect(`${typed.backspace().backspace()}`).toBe('| / 30');
  expect(`${typed.insert('0').insert('9')}`).toBe('09| / 30');
  expect(`${typed.insert('9')}`).toBe('09| / 30');
  expect(`${typed.at(0).insert('1')}`).toBe('|09 / 30');
});

test('a year is corrected at its first digit', () => {
  const typed = keyboard().type('1230').at(6);
  expect(`${typed.backspace()}`).toBe('12 / |0');
  expect(`${typed.insert('2')}`).toBe('12 / 2|0');
  // Or with the caret before the separator, where a click may have set it.
  expect(`${keyboard().type('12').at(2).insert('3')}`).toBe('12 / 3|');
});

test('a month of one digit gets its zero when the person leaves it', () => {
  expect(settleExpiry('5 / 30')).toBe('05 / 30');
  expect(settleExpiry('12 / 30')).toBe('12 / 30');
  expect(settleExpiry('')).toBe('');
});

test.each([
  ['12 / 30', 12, 2030],
  ['11 / 26', 11, 2026],
  ['12 / 2030', 12, 2030],
  ['1 / 30', 1, 2030],
])('%s is complete', (text, month, year) => {
  expect(readExpiry(text, now)).toEqual({ expiration_month: month, expiration_year: year });
});

test.each([
  '',
  '1',
  '12 / ',
  '12 / 3',
  '12 / 31 / ',
  '12 / 203',
  '10 / 26',
  '12 / 20',
  '00 / 30',
  '13 / 30',
  '12 / 2099',
])('%s is not', (text) => {
  expect(readExpiry(text, now)).toBeUndefined();
});

test('whatever is typed, its shape is that of a month and a year, and the caret is in it', () => {
  const edit = fc.record({
    at: fc.nat(9),
    text: fc.stringMatching(/^[0-9/ -]{0,7}$/),
    over: fc.nat(9),
    back: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 10 }), (edits) => {
      const keys = keyboard();
      for (const { at, text, over, back } of edits) {
        keys.at(Math.min(at, keys.shown.text.length));
        if (back) keys.backspace();
        else keys.insert(text, over);
        expect(keys.shown.text).toMatch(/^(\d{0,2}|\d{0,2} \/ (\d{0,5}|\d\d \/ ))$/);
        expect(keys.shown.caret).toBeGreaterThanOrEqual(0);
        expect(keys.shown.caret).toBeLessThanOrEqual(keys.shown.text.length);
      }
    }),
  );
});
