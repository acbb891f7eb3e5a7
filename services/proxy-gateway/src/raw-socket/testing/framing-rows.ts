/** Refused before the destination has a whole request, or passed on exactly, with the next one. */
type Verdict = 'refused' | 'taken';

/** Name, verdict, framing header lines, and body. A request to `/proxy/next` follows in the same bytes. */
export type FramingRow = [name: string, verdict: Verdict, lines: string, body: string];

const chunks = '5\r\nhello\r\n0\r\n\r\n';

/** Values of `Transfer-Encoding` on its own. */
const codings: [Verdict, string][] = [
  ['taken', 'chunked'],
  ['taken', 'Chunked'],
  ['taken', '  chunked '],
  ['taken', '\tchunked'],
  ['refused', 'chunked\t'],
  ['refused', '"chunked"'],
  ['refused', '\x0bchunked'],
  ['refused', 'chunked\x0b'],
  ['refused', 'chunked\x00'],
  ['refused', 'chunked\xa0'],
  ['refused', 'xchunked'],
  ['refused', 'cow'],
  ['refused', ''],
  ['refused', 'identity'],
  ['refused', 'gzip'],
  ['refused', 'gzip, chunked'],
  ['refused', 'identity, chunked'],
  ['refused', 'chunked, identity'],
  ['refused', 'chunked, gzip'],
  ['refused', 'chunked, chunked'],
  ['refused', 'chunked,'],
  ['refused', ',chunked'],
  ['refused', 'chunked;q=1'],
  ['refused', '\r\n chunked'],
  ['refused', 'chunked\r\n , identity'],
  ['refused', 'chunked\r\nTransfer-Encoding: chunked'],
  ['refused', 'chunked\r\nTransfer-Encoding: identity'],
  ['refused', 'identity\r\nTransfer-Encoding: chunked'],
  ['refused', 'chunked\r\nTransfer-encoding: cow'],
  ['refused', 'chunked\rX: y'],
  ['refused', 'chunked\nX: y'],
];

/** Lines that only some readers take for `Transfer-Encoding`, each with a length and without one. */
const disguises = [
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  ' Transfer-Encoding: chunked',
  '\tTransfer-Encoding: chunked',
  '\x00Transfer-Encoding: chunked',
  'Transfer-Encoding\x00: chunked',
  'Transfer-Encoding\r\n: chunked',
  'X: y\nTransfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\r\n\rTransfer-Encoding: chunked',
];

/** Values of `Content-Length` for a body of five bytes. */
const lengths: [Verdict, string][] = [
  ['taken', '5'],
  ['taken', '5  '],
  ['taken', '\t5'],
  ['taken', '05'],
  ['refused', '5, 5'],
  ['refused', '5,6'],
  ['refused', '5\r\nContent-Length: 5'],
  ['refused', '5\r\nContent-Length: 6'],
  ['refused', '6\r\ncontent-length: 5'],
  ['refused', '+5'],
  ['refused', '-5'],
  ['refused', '0x5'],
  ['refused', '5 5'],
  ['refused', '5.0'],
  ['refused', '5e0'],
  ['refused', '"5"'],
  ['refused', '5;'],
  ['refused', '5_0'],
  ['refused', ''],
  ['refused', 'five'],
  ['refused', '\u0665'],
  ['refused', '5\x00'],
  ['refused', '\x0b5'],
  ['refused', '5\x0b'],
  ['refused', '9007199254740993'], // JavaScript numbers would round it
  ['refused', '18446744073709551621'], // 2^64 + 5
  ['refused', '5\r\n 5'],
];

const bodies: [Verdict, string][] = [
  ['taken', '005\r\nhello\r\n00\r\n\r\n'],
  ['taken', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
  ['taken', '5;name=value\r\nhello\r\n0;last\r\n\r\n'],
  ['taken', '5;name="a\\"b"\r\nhello\r\n0\r\n\r\n'],
  ['taken', '5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n'],
  ['taken', '5\r\nhello\r\n0\r\nHost: evil.test\r\nSVC-API-KEY: x\r\nSVC-PROXY-KEY: y\r\n\r\n'],
  ['taken', '5\r\nhello\r\n0\r\nConnection: X-Kept\r\nExpect: 100-continue\r\n\r\n'],
  ['refused', '5 \r\nhello\r\n0\r\n\r\n'],
  ['refused', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['refused', '5 ;name\r\nhello\r\n0\r\n\r\n'],
  ['refused', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['refused', '+5\r\nhello\r\n0\r\n\r\n'],
  ['refused', '-5\r\nhello\r\n0\r\n\r\n'],
  ['refused', 'g\r\nhello\r\n0\r\n\r\n'],
  ['refused', '\r\nhello\r\n0\r\n\r\n'],
  ['refused', '5\nhello\n0\n\n'],
  ['refused', '5\nhello\r\n0\r\n\r\n'],
  ['refused', '5\r\r\nhello\r\n0\r\n\r\n'],
  ['refused', '5\r\nhello\n0\r\n\r\n'],
  ['refused', '5\r\nhello0\r\n\r\n'],
  ['refused', '5\r\nhelloXX0\r\n\r\n'],
  ['refused', '5\r\nhello!\r\n0\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\n\n'],
  ['refused', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
  ['refused', 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n'],
  ['refused', '5;a\nhello\r\n0\r\n\r\n'],
  ['refused', '5;a="\n"\r\nhello\r\n0\r\n\r\n'],
  ['refused', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nX T: 1\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nX\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nX: 1\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nX: 1\r\n Y: 2\r\n\r\n'],
  ['refused', '5\r\nhello\r\n0\r\nX: \x00\r\n\r\n'],
  ['refused', `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`],
  ['refused', `5\r\nhello\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
];

const lengthBeside = 'Content-Length: 5\r\n';

export const framingRows: FramingRow[] = [
  ['CL.TE', 'refused', `${lengthBeside}Transfer-Encoding: chunked\r\n`, 'hello'],
  ['TE.CL', 'refused', `Transfer-Encoding: chunked\r\n${lengthBeside}`, chunks],
  ['CL.0 with chunks', 'refused', 'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n', chunks],
  ['a length beside identity', 'refused', `${lengthBeside}Transfer-Encoding: identity\r\n`, 'hello'],
  [
    'an underscore is another header',
    'taken',
    `${lengthBeside}Transfer_Encoding: chunked\r\nContent_Length: 9\r\n`,
    'hello',
  ],
  ['lines that look alike', 'taken', `${lengthBeside}X-Transfer-Encoding: chunked\r\nContent-Length-X: 9\r\n`, 'hello'],
  ...codings.map(
    ([verdict, value]): FramingRow => [
      `Transfer-Encoding: ${value}`,
      verdict,
      `Transfer-Encoding: ${value}\r\n`,
      chunks,
    ],
  ),
  ...disguises.flatMap((line): FramingRow[] => [
    [`${line} beside a length`, 'refused', `${lengthBeside}${line}\r\n`, 'hello'],
    [line, 'refused', `${line}\r\n`, chunks],
  ]),
  ...lengths.map(
    ([verdict, value]): FramingRow => [`Content-Length: ${value}`, verdict, `Content-Length: ${value}\r\n`, 'hello'],
  ),
  ...bodies.map(
    ([verdict, body]): FramingRow => [`chunks ${body.slice(0, 60)}`, verdict, 'Transfer-Encoding: chunked\r\n', body],
  ),
];
