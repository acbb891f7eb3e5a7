import { useStack } from '@sluice/testing';
import { readMessages, talk, valuesOf } from '@sluice/testing/raw';
import { startLenientProxy } from '../testing/lenient-proxy.ts';
import { closeScenes, contentTypeOf, openScene, type Scene, statusesIn, type Way, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

/** Refused before the destination has a whole request, or passed on exactly, with the next one. */
type Verdict = 'refused' | 'taken';

type FramingRow = [name: string, verdict: Verdict, lines: string, body: string];

const chunks = '5\r\nhello\r\n0\r\n\r\n';

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

const framingRows: FramingRow[] = [
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

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

interface Bytes {
  head: string;
  body: string;
}

function requestWith(lines: string, body: string, { keys }: Scene, way: Way): Bytes {
  const next = `GET /proxy/next HTTP/1.1\r\nHost: x\r\n${keys}Connection: close\r\n\r\n`;
  const head = `POST /proxy/first HTTP/1.1\r\nHost: x\r\nX-Kept: 1\r\n${keys}${contentTypeOf(way)}${lines}\r\n`;
  return { head, body: body + next };
}

function expectNothing({ destination }: Scene) {
  expect(destination.seen()).toEqual([]);
  expect(destination.texts.join('')).not.toMatch(/next|SVC-/i);
}

function expectBoth({ destination }: Scene) {
  const seen = destination.seen().toSorted((a, b) => b.start.localeCompare(a.start));
  expect(seen.map(({ start, body, trailers }) => [start, body, trailers])).toEqual([
    ['POST /first HTTP/1.1', 'hello', []],
    ['GET /next HTTP/1.1', '', []],
  ]);
  expect(destination.rest()).toEqual([]);
  expect(seen.map(({ lines }) => valuesOf(lines, 'host'))).toEqual([1, 2].map(() => [new URL(destination.url).host]));
  expect(valuesOf(seen[0]?.lines ?? [], 'x-kept')).toEqual(['1']);
  expect(destination.texts.join('')).not.toMatch(/SVC-|evil|expect:/i);
}

describe.each(ways)('%s', (way) => {
  describe.each(framingRows)('%j is %s', (_, verdict, lines, body) => {
    test('in one piece', async () => {
      const scene = await openScene(gateway.current);
      const bytes = requestWith(lines, body, scene, way);
      const { text, hasEnded } = await talk(gateway.current.url, bytes.head + bytes.body);
      expect(hasEnded).toBe(true);
      if (verdict === 'taken') {
        expect(readMessages(text).messages.map((answer) => [answer.start, answer.body])).toEqual([
          ['HTTP/1.1 200 OK', '/first'],
          ['HTTP/1.1 200 OK', '/next'],
        ]);
        expectBoth(scene);
      } else {
        expect([400, 413, 431]).toContain(statusesIn(text)[0]);
        expect(statusesIn(text)).toHaveLength(1);
        expectNothing(scene);
      }
    });

    test('the body after its head', async () => {
      const scene = await openScene(gateway.current);
      const bytes = requestWith(lines, body, scene, way);
      const { text } = await talk(gateway.current.url, [bytes.head, bytes.body], { pauseMs: 25 });
      if (verdict === 'taken') {
        expect(statusesIn(text)).toEqual([200, 200]);
        expectBoth(scene);
      } else {
        expect(statusesIn(text)).not.toContain(200);
        expect(statusesIn(text).length).toBeLessThan(2);
        expectNothing(scene);
      }
    });
  });
});

test('the control: a lenient parser with bare http-proxy behind it lets requests of this table through', async () => {
  const refused = framingRows.filter(([, verdict]) => verdict !== 'taken');
  const isSmuggled = async ([, , lines, body]: (typeof framingRows)[number]) => {
    const scene = await openScene(gateway.current);
    const { head, body: rest } = requestWith(lines, body, scene, 'streamed');
    const bare = await startLenientProxy(scene.destination.url);
    await talk(bare.url, head + rest, { withinMs: 2000 });
    await bare.close();
    return scene.destination.seen().length > 0;
  };
  const smuggled = (await Promise.all(refused.map(isSmuggled))).filter(Boolean);
  expect(smuggled.length).toBeGreaterThan(20);
});
