import fc from 'fast-check';
import { charsetNamed, simpleCharsets } from './charset.ts';
import { charsetOf } from './charset-of.ts';

const none = new Uint8Array();
const oneByte = [
  'iso-8859-1',
  'latin1',
  'us-ascii',
  'windows-1252',
  'ISO-8859-15',
  'koi8-r',
  'macintosh',
  'x-user-defined',
];

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
  ['application/json; charset=gb2312', 'gbk'],
  ['application/json;CHARSET="Big5"', 'big5'],
  ["text/plain; charset = 'Shift_JIS'", 'shift_jis'],
  ['text/xml; charset=ISO-2022-JP', undefined],
  ['text/xml; charset=iso-2022-kr', undefined],
  ['text/plain; charset=utf-8; charset=utf-16', undefined],
  ['text/plain; charset=IBM037', undefined],
  ['text/plain; charset=no-such', undefined],
])('%s names %s', (contentType, name) => {
  expect(charsetOf(contentType, none)?.name).toBe(name);
});

test.each(oneByte)('each byte of %s that stands for a character is read and written as itself', (label) => {
  const charset = charsetOf(`text/plain; charset=${label}`, none);
  for (let byte = 0; byte <= 0xff; byte += 1) {
    const text = charset?.decode(Uint8Array.of(byte));
    if (text !== undefined) expect([...(charset?.encode(text) ?? [])]).toEqual([byte]);
    else expect(byte).toBeGreaterThan(0x7f);
  }
  expect(charset?.encode('日')).toBeUndefined();
});

test('what is no text, and what the charset lacks, is told and never replaced', () => {
  expect(charsetNamed('windows-1252')?.decode(Uint8Array.of(0x92))).toBe('’');
  expect(charsetNamed('windows-1253')?.decode(Uint8Array.of(0xaa))).toBeUndefined();
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

const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16(text).swap16();
const xml = '<?xml version="1.0" encoding="ISO-8859-2"?><a/>';
const html = (meta: string, before = '') => `<!DOCTYPE html><html><head>${before}${meta}</head>`;

test.each<[string, string | Buffer, string | undefined]>([
  // The mark is before the type, the type before the document
  ['text/xml; charset=iso-8859-1', `\ufeff${xml}`, 'utf-8'],
  ['text/xml; charset=utf-8', utf16be(`\ufeff${xml}`), 'utf-16be'],
  ['application/json', utf16('\ufeff{}'), 'utf-16le'],
  ['text/plain; charset=x; charset=y', '\ufeff', 'utf-8'],
  ['text/xml; charset=koi8-r', xml, 'koi8-r'],
  ['text/html; charset=koi8-r', html('<meta charset=gbk>'), 'koi8-r'],
  ['text/xml; charset=no-such', xml, undefined],
  // XML
  ['text/xml', xml, 'iso-8859-2'],
  ['application/soap+xml; action="charset"', xml, 'iso-8859-2'],
  ['application/xml', "<?xml version='1.0' encoding = 'windows-1252' ?>", 'windows-1252'],
  ['image/svg+xml ;x=1', '<?xml version="1.0" encoding="Shift_JIS" standalone="yes"?>', 'shift_jis'],
  ['text/xml', ' <?xml version="1.0" encoding="gbk"?>', 'utf-8'],
  ['text/xml', '<?xml version="1.0"?><a encoding="gbk"/>', 'utf-8'],
  ['text/xml', `<?xml version="1.0"${' '.repeat(1024)}encoding="gbk"?>`, 'utf-8'],
  ['text/xml', '<meta charset="gbk">', 'utf-8'],
  ['text/xml', utf16('<?xml version="1.0"?><a/>'), 'utf-16le'],
  ['text/xml', utf16be('<?xml version="1.0"?><a/>'), 'utf-16be'],
  ['text/xml', '<?xml version="1.0" encoding="utf-16"?>', 'utf-8'],
  ['text/xml', '<?xml version="1.0" encoding="IBM037"?>', 'utf-8'],
  ['text/xml', '<?xml version="1.0" encoding="ISO-2022-JP"?>', 'utf-8'],
  ['text/xml', '<?xml version="1.0" encoding="iso-2022-kr"?>', 'utf-8'],
  // HTML
  ['text/html', html('<meta charset=Big5>'), 'big5'],
  ['Text/HTML', html("<meta name=a charset='windows-1252'>"), 'windows-1252'],
  ['text/html', html('<meta http-equiv=Content-Type content="text/html; charset=euc-kr">'), 'euc-kr'],
  ['text/html', html('<meta charset=gbk>', '<!-- <meta charset=koi8-r> -->'), 'gbk'],
  ['text/html', html('<meta charset=gbk>', ' '.repeat(990)), 'utf-8'],
  ['text/html', html('<meta charset=utf-16>'), 'utf-8'],
  ['text/html', html('<meta charset=iso-2022-jp>'), 'utf-8'],
  // What declares nothing
  ['text/plain', xml, 'utf-8'],
  ['application/json', '["<?xml encoding=gbk?>"]', 'utf-8'],
  ['', utf16('\ufeff{}'), 'utf-8'],
])('%s with %s is in %s', (contentType, body, name) => {
  expect(charsetOf(contentType, Buffer.from(body))?.name).toBe(name);
});

test('a declaration of a charset that the caller cannot read is UTF-8, one of the type is unknown', () => {
  const document = Buffer.from('<?xml version="1.0" encoding="gbk"?>');
  expect(charsetOf('text/xml', document, simpleCharsets)?.name).toBe('utf-8');
  expect(charsetOf('text/xml; charset=gbk', document, simpleCharsets)).toBeUndefined();
});

test('a character that would come back as another one is lacking', () => {
  const { encode } = charsetNamed('shift_jis');
  expect(encode('\u8868')).toEqual(Buffer.from([0x95, 0x5c]));
  for (const text of ['\u00a5', '\u203e', '\u2212', '\ud800']) expect(encode(text)).toBeUndefined();
});
