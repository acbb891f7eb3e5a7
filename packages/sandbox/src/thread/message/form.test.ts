import fc from 'fast-check';
import { formToJson, jsonToForm } from './form.ts';

const parsed = (text: string) => JSON.parse(formToJson(text, 100_000) ?? 'null');
const pairsOf = (form: object) =>
  Object.entries(form).flatMap(([name, value]) => [value].flat().map((item) => [name, item]));

const piece = fc.constantFrom('a', '=', '&', '+', '%', '%7', '%7B', '%c3%a9', '%ff', '%00', ' ', '1', '%2B');

test('a form is read as URLSearchParams reads it', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
      (text) => {
        const expected: Record<string, string[]> = Object.create(null);
        for (const [name, value] of new URLSearchParams(text)) {
          const before = expected[name];
          if (before) before.push(value);
          else expected[name] = [value];
        }
        const form = parsed(text);
        expect(Object.keys(form).sort()).toEqual(Object.keys(expected).sort());
        for (const name of Object.keys(expected)) expect([form[name]].flat()).toEqual(expected[name]);
      },
    ),
    { numRuns: 2000 },
  );
});

test('characters beyond ASCII may stand as they are', () => {
  expect(parsed('é=%e2%82%ac€%7&+')).toEqual({ é: '€€%7', ' ': '' });
});

test('an object is written so that URLSearchParams reads the same', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string(), { minLength: 1 }))),
      (fields) => {
        const written = jsonToForm(JSON.stringify(fields), 1000);
        expect([...new URLSearchParams(written)]).toEqual(pairsOf(fields));
      },
    ),
  );
});

test('a form has at most so many pairs, empty ones included, in either direction', () => {
  expect(formToJson('a=1&a=2&a=3', 3)).toBe('{"a":["1","2","3"]}');
  expect(formToJson('a=1&a=2&a=3&', 3)).toBeUndefined();
  expect(formToJson('&'.repeat(1_000_000), 3)).toBeUndefined();
  expect(jsonToForm('{"a":[1,2],"b":null}', 3)).toBe('a=1&a=2&b=');
  expect(() => jsonToForm('{"a":[1,2,3,4]}', 3)).toThrow('more than 3 pairs');
});
