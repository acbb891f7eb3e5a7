import fc from 'fast-check';
import { charsetNamed } from '../../charset/charset.ts';
import { formToJson, jsonToForm } from './form.ts';

const read = (text: string, mostPairs = 100_000, charset = 'utf-8') =>
  formToJson(text, { mostPairs, charset: charsetNamed(charset) });
const write = (json: string, mostPairs = 1000, charset = 'utf-8') =>
  jsonToForm(json, { mostPairs, charset: charsetNamed(charset) });

function parsed(text: string, charset?: string) {
  const result = read(text, 100_000, charset);
  return 'json' in result ? JSON.parse(result.json) : result.unreadable;
}

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
        // It puts a replacement character where bytes are no text
        if ([...new URLSearchParams(text)].flat().join().includes('\ufffd')) {
          expect(form).toBe('charset');
          return;
        }
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
        const written = write(JSON.stringify(fields));
        expect([...new URLSearchParams(written)]).toEqual(pairsOf(fields));
      },
    ),
  );
});

test('a form has at most so many pairs, empty ones included, in either direction', () => {
  expect(read('a=1&a=2&a=3', 3)).toEqual({ json: '{"a":["1","2","3"]}' });
  expect(read('a=1&a=2&a=3&', 3)).toEqual({ unreadable: 'too_many_pairs' });
  expect(read('&'.repeat(1_000_000), 3)).toEqual({ unreadable: 'too_many_pairs' });
  expect(write('{"a":[1,2],"b":null}', 3)).toBe('a=1&a=2&b=');
  expect(() => write('{"a":[1,2,3,4]}', 3)).toThrow('more than 3 pairs');
});

test('its escapes stand for bytes of its charset, in either direction', () => {
  expect(parsed('CN=O%92Connor&a=\x92+%81', 'windows-1252')).toEqual({ CN: 'O’Connor', a: '’ \x81' });
  expect(write('{"CN":"O’Connor & Söhne"}', 1, 'windows-1252')).toBe('CN=O%92Connor+%26+S%F6hne');
  expect(() => write('{"CN":"日"}', 1, 'windows-1252')).toThrow('characters that its charset windows-1252');
  expect(parsed('a=%aa', 'windows-1253')).toBe('charset');
});

test('a text of any one-byte charset comes back as it was', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '&', '=', '%', '+', '’', 'é', '€', '~', '*') });
  fc.assert(
    fc.property(fc.array(text), (values) => {
      const fields = values.length === 0 ? {} : { a: values.length === 1 ? values[0] : values };
      expect(parsed(write(JSON.stringify(fields), 1000, 'windows-1252'), 'windows-1252')).toEqual(fields);
    }),
  );
});
