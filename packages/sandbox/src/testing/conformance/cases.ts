import fc from 'fast-check';

/** The same inputs in every run, so that the counts mean something. */
const seed = 20_240_229;
const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] => fc.sample(arbitrary, { seed, numRuns: count });

const pairs = <A, B>(left: readonly A[], right: readonly B[]): [A, B][] =>
  left.flatMap((a) => right.map((b): [A, B] => [a, b]));

const schemes = [
  'http:',
  'HTTPS:',
  'ftp:',
  'ws:',
  'file:',
  'mailto:',
  'data:',
  'urn:',
  'a+b-c.1:',
  '1a:',
  '',
  'blob:http:',
];
const slashes = ['//', '/', '', '\\\\', '///'];
const hosts = [
  'example.com',
  'EXAMPLE.com.',
  'user:pa%20ss@h',
  'a@b@c',
  'münchen.de',
  'xn--mnchen-3ya.de',
  '日本.jp',
  '☃.net',
  '1.2.3.4',
  '0x7f.1',
  '256.1',
  '1.2.3.4.5',
  '[::1]',
  '[::ffff:1.2.3.4]',
  '[1:2]',
  '[::1',
  'a b',
  'a%41b',
  'a%00b',
  'a<b',
  '',
  'localhost',
  'h:80',
  'h:443',
  'h:0',
  'h:65536',
  'h:8x',
  'ﬀ.com',
  'a..b',
  '%zz',
  'h\t\n',
  '-a-',
  'a_b',
];
const paths = [
  '',
  '/',
  '/a/b/../c',
  '/./..//%2e%2E/x',
  '/a b',
  '/é\u{1f600}',
  '/%zz%41',
  '?q=1&r= é#f',
  '#frag ment',
  '/C|/x',
  '\\a\\b',
  ';p?x#y',
  '/\u0000\u007f',
  '/\'"<>`{}|^',
];
const bases = [
  'http://h/a/b?q#f',
  'file:///C:/x/y',
  'data:x,y',
  'mailto:a@b',
  'https://u:p@h:8443/p/',
  'about:blank',
  'non://h/p',
];
const references = [
  '',
  '?',
  '#',
  '//other/x',
  '/abs',
  'rel',
  '../up',
  '../../../../far',
  './',
  'x:y',
  'http:rel',
  'file:',
  'C|/p',
  '\\\\h\\p',
  ' spaced ',
  '?a b',
  '..',
  '%2e%2e/x',
  '//',
  '///x',
];

export const urlInputs: [string, string | null][] = [
  ...pairs(
    schemes.flatMap((scheme) => slashes.map((slash) => scheme + slash)),
    hosts,
  ).flatMap(([head, host], index) => [
    [head + host + (paths[index % paths.length] ?? ''), null] as [string, null],
    [head + host + (paths[(index * 5 + 3) % paths.length] ?? ''), null] as [string, null],
  ]),
  ...pairs(references, bases),
  ...sample(fc.webUrl({ withFragments: true, withQueryParameters: true }), 300).map((url): [string, null] => [
    url,
    null,
  ]),
  ...sample(fc.string({ unit: 'binary', maxLength: 12 }), 300).map((text): [string, string] => [text, 'http://h/p/']),
];

export const urlChanges: [string, string, string][] = pairs(
  ['http://u:p@h:81/p?q#f', 'file:///x', 'mailto:a@b', 'https://h/', 'a://h'],
  pairs(
    ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'],
    ['', 'x', 'http', 'https:', 'a b', 'é', '99', '65536', '?q', '#f', '/a/../b', 'h:1', '[::1]', '\\', 'a@b', '%41'],
  ),
).map(([href, [part, value]]) => [href, part, value]);

const texts = [
  ...[
    '',
    'a',
    'é€😀',
    '\ud800',
    'a\udc00b',
    '\u0000',
    'ÿĀ',
    '=',
    'YQ==',
    'YQ',
    'Y Q=\n=',
    '_-8',
    '+/8=',
    'zz',
    'abc',
    '0aFF',
    '0aF',
    ' 0a',
  ],
  ...sample(fc.string({ unit: 'binary', maxLength: 40 }), 150),
  ...sample(fc.base64String({ maxLength: 40 }), 50),
  ...sample(fc.stringMatching(/^[0-9a-fA-F]{0,20}$/), 50),
];
const encodings = [
  'utf8',
  'utf-8',
  'UTF8',
  'utf16le',
  'ucs2',
  'latin1',
  'binary',
  'ascii',
  'base64',
  'base64url',
  'hex',
];

/** In base64, Node.js takes a character beyond U+00FF for the one that its low byte is; the sandbox passes over it. */
const isTakenForAnother = (text: string, encoding: string) =>
  encoding.startsWith('base64') && [...text].some((character) => character > '\u00ff');

export const encodedTexts = pairs(texts, encodings).filter(([text, encoding]) => !isTakenForAnother(text, encoding));
export const encodedBytes = pairs(
  sample(fc.uint8Array({ maxLength: 40 }), 200).map((bytes) => [...bytes]),
  encodings,
);

export const queries: string[] = [
  ...[
    '',
    '&',
    '=',
    'a',
    'a=',
    '=b',
    'a=b=c',
    'a&a&a',
    'a=1&a=2',
    '%',
    '%zz',
    '%C3%28',
    '%u0041',
    'a+b=c+d',
    'a=%00',
    '__proto__=1',
    'constructor=2',
    'hasOwnProperty=3',
    '?a=b',
    'é=ü',
    'a[]=1',
  ],
  ...sample(fc.webQueryParameters(), 150),
  ...sample(fc.string({ unit: 'binary', maxLength: 30 }), 250),
];

export const forms: Record<string, unknown>[] = sample(
  fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 10 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
    ),
    { maxKeys: 5, noNullPrototype: true },
  ),
  250,
).map((form) => JSON.parse(JSON.stringify(form)));

const algorithms = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-256', 'sha3-256', 'ripemd160'];
/** Around the ends of blocks, where implementations differ. */
const lengths = [0, 1, 3, 55, 56, 57, 63, 64, 65, 111, 112, 127, 128, 129, 1000];

export const digests = pairs(algorithms, lengths);
export const macs = pairs(algorithms, pairs([0, 1, 63, 64, 65, 128, 129, 200], [0, 1, 64, 100]));
export const encryptions = pairs(
  ['aes-128-gcm', 'aes-192-gcm', 'aes-256-gcm', 'aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc', 'AES-256-GCM'],
  pairs([0, 1, 15, 16, 17, 31, 32, 100], [0, 1, 20]),
);

const packs = [
  ['deflateSync', 'inflateSync'],
  ['deflateSync', 'unzipSync'],
  ['gzipSync', 'gunzipSync'],
  ['gzipSync', 'unzipSync'],
  ['deflateRawSync', 'inflateRawSync'],
  ['brotliCompressSync', 'brotliDecompressSync'],
] as const;

/** Sizes around the steps in which the sandbox hands input on, and takes output. */
const packedSizes = [0, 1, 1_000, 16_383, 16_384, 16_385, 40_000, 100_000];

export const compressions = packs.flatMap(([pack, unpack]) => [
  ...['zeros', 'bytes', 'text'].flatMap((kind) => packedSizes.map((size) => [pack, unpack, kind, size, {}])),
  ...(pack.startsWith('brotli')
    ? [[pack, unpack, 'text', 50_000, { params: { 1: 4 } }]]
    : [{ level: 0 }, { level: 9, memLevel: 9 }, { strategy: 2 }, { windowBits: 10 }].map((options) => [
        pack,
        unpack,
        'text',
        50_000,
        options,
      ])),
]);

export const derivations = [1, 2, 1_000, 1_001, 5_000, 0, -1, 1.5].flatMap((rounds) =>
  ['sha1', 'sha256', 'sha512', 'md5', 'nope'].flatMap((hash) =>
    [1, 20, 64, 100, 0].map((size) => [rounds, size, hash]),
  ),
);
