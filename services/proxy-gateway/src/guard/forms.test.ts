import { automatonOf, run } from '../testing/naive-matches.ts';
import { patternsOf } from './forms.ts';
import { Replacer } from './replacer.ts';

const card = '4242424242424242';
const text = 'Zoë\'s p/w "4! (é)"';

/** In pieces of every size up to `most`, because a form must be found wherever the text is cut. */
function guarded(values: readonly string[], body: Buffer): string[] {
  const automaton = automatonOf(run(patternsOf(values)));
  return [body.length || 1, 1, 2, 3, 7].map((size) => {
    const replacer = new Replacer(automaton, () => Buffer.from('[redacted]'));
    const given: Buffer[] = [];
    for (let at = 0; at < body.length; at += size) given.push(replacer.read(body.subarray(at, at + size)));
    return Buffer.concat([...given, replacer.end()]).toString('latin1');
  });
}

const inBase64 = (before: string, value: string, after: string, encoding: 'base64' | 'base64url') =>
  Buffer.from(before + value + after).toString(encoding);
const upper = (json: string) => json.replaceAll(/\\u[0-9a-f]{4}/g, (sign) => `\\u${sign.slice(2).toUpperCase()}`);
const ascii = (json: string) =>
  json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const strict = (encoded: string) =>
  encoded.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const lower = (encoded: string) => encoded.replaceAll(/%[0-9A-F]{2}/g, (sign) => sign.toLowerCase());
const component = encodeURIComponent(text);
const json = JSON.stringify(text).slice(1, -1);

/** The guide guard-responses.md has this table, in the same words. */
const found: [form: string, value: string, written: string | Buffer][] = [
  ['as it is', text, text],
  ['JSON', text, json],
  ['JSON with `\\/`', text, json.replaceAll('/', '\\/')],
  ['JSON in ASCII, lower case', text, ascii(json)],
  ['JSON in ASCII, upper case', text, upper(ascii(json))],
  ['JSON in ASCII with `\\/`', text, upper(ascii(json)).replaceAll('/', '\\/')],
  ['JSON of control characters', 'line\n\u001fend', 'line\\n\\u001fend'],
  ['JSON of control characters, upper case', 'line\n\u001fend', 'line\\n\\u001Fend'],
  ['JSON of a pair of surrogates', 'key 🔑🔑🔑', 'key \\ud83d\\udd11\\ud83d\\udd11\\ud83d\\udd11'],
  ['encodeURIComponent', text, component],
  ['encodeURIComponent, lower case', text, lower(component)],
  ['encodeURIComponent, a blank as `+`', text, component.replaceAll('%20', '+')],
  ['RFC 3986', text, strict(component)],
  ['RFC 3986, lower case', text, lower(strict(component))],
  ['RFC 3986, a blank as `+`', text, strict(component).replaceAll('%20', '+')],
  ['RFC 3986, lower case, a blank as `+`', text, lower(strict(component)).replaceAll('%20', '+')],
  ['forms', 'Tr~ub(4)d*r é', 'Tr%7Eub%284%29d*r+%C3%A9'],
  ['forms, lower case, a blank as `%20`', 'Tr~ub(4)d*r é', 'Tr%7eub%284%29d*r%20%c3%a9'],
  ['Latin-1', 'Zoë-Passwort', Buffer.from('Zoë-Passwort', 'latin1')],
  ['CSV', 'say "words"', 'say ""words""'],
  ['hexadecimal, lower case', text, Buffer.from(text).toString('hex')],
  ['hexadecimal, upper case', text, Buffer.from(text).toString('hex').toUpperCase()],
  ['digits in groups of 4, by blanks', card, '4242 4242 4242 4242'],
  ['digits in groups of 4, by dashes', card, '4242-4242-4242-4242'],
  ['digits in groups of 4, the last one shorter', '424242424242424', '4242 4242 4242 424'],
  ['digits in groups of 2, 3 and 5', '123456789012', '123 456 789 012'],
  ['digits in groups of 3 from the right', '1234567', '1 234 567'],
  ['digits in groups of American Express', '378282246310005', '3782 822463 10005'],
  ['digits in groups of a social security number', '123456789', '123-45-6789'],
  ['digits in groups of a telephone number', '2125550123', '212-555-0123'],
  ['digits of a value that has groups', '4242 4242 4242 4242', '4242424242424242'],
  ['digits of a value that has other groups', '378-282-246-310-005', '3782 822463 10005'],
];

test.each(found)('found: %s', (_, value, written) => {
  const bytes = typeof written === 'string' ? Buffer.from(written) : written;
  const body = Buffer.concat([Buffer.from('<'), bytes, Buffer.from('>')]);
  for (const given of guarded([value], body)) expect(given).toBe('<[redacted]>');
});

/** Before and behind it all bits of a character may be the neighbour's, or the text may end. */
const neighbours = ['', 'x', 'xy', 'xyz', '\xff\xff', '\0', '>>'];

test.each(['base64', 'base64url'] as const)(
  'found: %s at three offsets, with all characters that carry a bit',
  (encoding) => {
    for (const value of ['secret', 'secret7', 'secret78', text, '>>>???', '\xff\xfe\xfd']) {
      for (const before of neighbours) {
        for (const after of neighbours) {
          const written = inBase64(before, value, after, encoding);
          const [first, last] = [Buffer.byteLength(before) * 8, Buffer.byteLength(before + value) * 8];
          const expected = `"${written.slice(0, Math.floor(first / 6))}[redacted]${written.slice(Math.ceil(last / 6))}"`;
          for (const given of guarded([value], Buffer.from(`"${written}"`))) expect(given).toBe(expected);
        }
      }
    }
  },
);

const missed: [form: string, value: string, written: string][] = [
  ['mixtures: JSON with one character escaped that need not be', text, json.replace('Z', '\\u005a')],
  ['mixtures: digits of escapes in both cases', 'ééééééé', `%C3%a9${encodeURIComponent('éééééé')}`],
  ['mixtures: one encoding in another', card, Buffer.from(Buffer.from(card).toString('hex')).toString('base64')],
  ['HTML entities', 'p&w<1>', 'p&amp;w&lt;1&gt;'],
  ['charsets but UTF-8 and Latin-1', 'price €100', Buffer.from('price \x80100', 'latin1').toString('latin1')],
  ['UTF-16', card, Buffer.from(card, 'utf16le').toString('latin1')],
  [
    'MIME line breaks',
    card,
    `${Buffer.from(card).toString('base64').slice(0, 8)}\r\n${Buffer.from(card).toString('base64').slice(8)}`,
  ],
  ['digits in other groups', card, '42 4242 4242 424242'],
  ['digits by other separators', card, '4242.4242.4242.4242'],
  ['another case', 'Secret-Value', 'SECRET-VALUE'],
  ['a part of it', card, card.slice(0, 12)],
  ['its reverse, or any other computation on it', card, [...card].reverse().join('')],
];

test.each(missed)('not found, as README.md says: %s', (_, value, written) => {
  const body = Buffer.from(`<${written}>`);
  for (const given of guarded([value], body)) expect(given).toBe(body.toString('latin1'));
});

test('a form that two values share belongs to the first, and nothing is looked for twice', () => {
  const patterns = run(patternsOf([card, '4242 4242 4242 4242', card]));
  const of = (written: string) => patterns.filter(({ bytes }) => bytes.toString() === written);
  expect(of('4242 4242 4242 4242')).toEqual([{ bytes: Buffer.from('4242 4242 4242 4242'), value: 0 }]);
  expect(of(card)).toHaveLength(1);
});

test('64 KiB of values give their forms in pieces', () => {
  const work = patternsOf(Array.from({ length: 64 }, (_, i) => `${i}`.padStart(1024, 'é')));
  let pieces = 1;
  while (!work.next().done) pieces += 1;
  expect(pieces).toBeGreaterThan(10);
});
