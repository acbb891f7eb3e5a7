import fc from 'fast-check';
import { charsetNamed, charsetOf } from './charset.ts';

const oneByte = ['iso-8859-1', 'latin1', 'us-ascii', 'windows-1252', 'ISO-8859-15', 'koi8-r', 'macintosh', 'ibm866'];

test.each([
  [undefined, 'utf-8'],
  ['application/json', 'utf-8'],
  ['text/xml;charset="UTF-8"', 'utf-8'],
  ["text/xml; charset='utf8'", 'utf-8'],
  ['text/plain; charset=', 'utf-8'],
  ['text/plain; x-charset=gbk', 'utf-8'],
  ['text/plain; charset=US-ASCII', 'windows-1252'],
  ['application/x-www-form-urlencoded; charset=ISO-8859-1', 'windows-1252'],
  ['text/xml; charset=windows-1252; x=1', 'windows-1252'],
  ['text/xml; charset=utf-16', 'utf-16le'],
  ['text/xml; charset=UTF-16BE', 'utf-16be'],
  ['application/json; charset=gbk', undefined],
  ['application/json;CHARSET="Big5"', undefined],
  ["text/plain; charset = 'Shift_JIS'", undefined],
  ['text/plain; charset=utf-8; charset=utf-16', undefined],
  ['text/plain; charset=IBM037', undefined],
  ['text/plain; charset=no-such', undefined],
])('%s names %s', (contentType, name) => {
  expect(charsetOf(contentType)?.name).toBe(name);
});

test.each(oneByte)('each byte of %s that stands for a character is read and written as itself', (label) => {
  const charset = charsetOf(`text/plain; charset=${label}`);
  for (let byte = 0; byte <= 0xff; byte += 1) {
    const text = charset?.decode(Uint8Array.of(byte));
    if (text !== undefined) expect([...(charset?.encode(text) ?? [])]).toEqual([byte]);
    else expect(byte).toBeGreaterThan(0x7f);
  }
  expect(charset?.encode('日')).toBeUndefined();
});

test('what is no text, and what the charset lacks, is told and never replaced', () => {
  expect(charsetOf('a; charset=windows-1252')?.decode(Uint8Array.of(0x92))).toBe('’');
  expect(charsetOf('a; charset=windows-1253')?.decode(Uint8Array.of(0xaa))).toBeUndefined();
  expect(charsetNamed('utf-8').decode(Uint8Array.of(0x92))).toBeUndefined();
  expect(charsetNamed('utf-16le').decode(Uint8Array.of(0x41, 0, 0x41))).toBeUndefined();
  for (const name of ['utf-8', 'utf-16le', 'utf-16be']) expect(charsetNamed(name).encode('a\ud800')).toBeUndefined();
});

test.each(['utf-8', 'utf-16le', 'utf-16be'])('%s holds every text, and keeps a byte order mark', (name) => {
  const { encode, decode } = charsetNamed(name);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decode(encode(`\ufeff${text}`) ?? Buffer.alloc(0))).toBe(`\ufeff${text}`);
    }),
  );
});

test.each([
  ['a mark', [0xfe, 0xff, 0, 0x41], '\ufeffA'],
  ['a mark', [0xff, 0xfe, 0x41, 0], '\ufeffA'],
  ['its first character', [0, 0x3c, 0, 0x61], '<a'],
  ['its first character', [0x3c, 0, 0x61, 0], '<a'],
])('UTF-16 without an order in its label is read by %s', (_, bytes, text) => {
  const body = Uint8Array.from(bytes);
  expect(charsetOf('text/xml; charset=utf-16', body)?.decode(body)).toBe(text);
});
