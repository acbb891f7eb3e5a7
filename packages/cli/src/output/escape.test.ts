import fc from 'fast-check';
import { escapeLine, escapeText, toSafeJson } from './escape.ts';
import { toMembers, toTable } from './table.ts';

const esc = '\u001b';
const bidi = ['\u202e', '\u2066', '\u200f', '\u061c', '\u2028', '\ufeff'];

test('characters that a terminal obeys, or that turn text around, are shown by their number', () => {
  expect(escapeLine(`a${esc}[2Jb\r\n\u009bc`)).toBe('a\\u001b[2Jb\\u000d\\u000a\\u009bc');
  for (const character of bidi) expect(escapeLine(`x${character}y`)).toMatch(/^x\\u[0-9a-f]{4}y$/);
  expect(escapeText(`one\n\ttwo${esc}`)).toBe('one\n\ttwo\\u001b');
});

test('letters of any script stay', () => {
  const text = 'Zoë naïve 日本語 العربية 🙂 – “”';
  expect(escapeLine(text)).toBe(text);
});

test('JSON means the same after it was made safe, and has no character that a terminal obeys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', esc, '\u0007', '\u009b', ...bidi), (value, more) => {
      const json = toSafeJson({ value, more });
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, more })));
      expect(escapeLine(json)).toBe(json);
    }),
  );
});

test('tables and members are made of safe text, names of members included', () => {
  const hostile = { id: `1${esc}]0;title\u0007`, name: 'a\nb\u202e', [`x${esc}`]: { y: esc } };
  for (const text of [toTable([hostile]), toMembers(hostile)]) {
    expect(escapeText(text)).toBe(text);
    expect(text.split('\n').length).toBeLessThanOrEqual(3);
  }
});
