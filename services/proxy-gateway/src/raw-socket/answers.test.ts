import type { Socket } from 'node:net';
import { useStack } from '@sluice/testing';
import { okAnswer, readMessages, type Script, talk, valuesOf } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, statusesIn, type Way, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

/** The required outcome: 502, passed on with the body `ok`, or an interrupted connection. */
type AnswerVerdict = 502 | 'taken' | 'cut';

type AnswerRow = [name: string, verdict: AnswerVerdict, bytes: string];

const statusLines: [AnswerVerdict, string][] = [
  ['taken', 'HTTP/1.1 200'],
  ['taken', 'HTTP/1.1 200 '],
  ['taken', 'HTTP/1.1 200 all is well'],
  ['taken', 'HTTP/1.1 200 \xe9'],
  ['taken', '\r\nHTTP/1.1 200 OK'],
  ['taken', 'HTTP/1.0 200 OK'],
  ['taken', 'HTTP/0.9 200 OK'], // the version is not passed on, and the connection is not reused
  ['taken', 'HTTP/2.0 200 OK'],
  ['taken', 'HTTP/1.1 200 O\x00K'],
  ['taken', 'HTTP/1.1 600 X'],
  ['taken', 'HTTP/1.1 999 X'],
  [502, 'HTTP/1.1 99 X'],
  [502, 'HTTP/1.1 099 X'],
  [502, 'HTTP/1.1 000 X'],
  [502, 'HTTP/1.1 1000 X'],
  [502, 'HTTP/1.1 20 X'],
  [502, 'HTTP/1.1 -200 X'],
  [502, 'HTTP/1.1 +200 X'],
  [502, 'HTTP/1.1 2.0 X'],
  [502, 'HTTP/1.1 abc X'],
  [502, 'HTTP/1.1 200OK'],
  [502, 'HTTP/1.1  200 OK'],
  [502, 'HTTP/1.1 200 O\rK'],
  [502, 'HTTP/1.1 200 O\nK'],
  [502, 'HTTP/1.2 200 OK'],
  [502, 'HTTP/2 200 OK'],
  [502, 'HTTP/3.0 200 OK'],
  [502, 'http/1.1 200 OK'],
  [502, ' HTTP/1.1 200 OK'],
  [502, 'ICY 200 OK'],
  [502, 'SSH-2.0-OpenSSH_9'],
  [502, '220 mail.test ESMTP'],
  [502, '\x15\x03\x01\x00\x02\x02\x46'], // a TLS alert
  [502, 'GET / HTTP/1.1'],
  [502, '<html>'],
  [502, '\x00'],
  [502, ''],
];

const blocks: [AnswerVerdict, string][] = [
  ['taken', 'Content-Length: 2\r\nX: \xe9'],
  ['taken', 'Content-Length: 2\r\nX: a\tb'],
  ['taken', 'Content-Length: 2\r\nX:'],
  ['taken', 'Content-Length: 02'],
  ['taken', 'Content-Length: 2\r\nKeep-Alive: timeout=-1'],
  ['taken', 'Content-Length: 2\r\nKeep-Alive: timeout=99999999999'],
  ['taken', 'Content-Length: 2\r\nConnection: Content-Length'],
  ['taken', 'Content-Length: 2\r\nConnection: ,,;=,"'],
  ['taken', 'Content-Length: 2\r\nTrailer: Content-Length'],
  ['taken', 'Content-Length: 2\r\nUpgrade: h2c\r\nConnection: Upgrade'],
  [502, 'Content-Length: 2\r\nContent-Length: 3'],
  [502, 'Content-Length: 2\r\nContent-Length: 2'],
  [502, 'Content-Length: 2, 2'],
  [502, 'Content-Length: +2'],
  [502, 'Content-Length: -2'],
  [502, 'Content-Length: 0x2'],
  [502, 'Content-Length: 2 2'],
  [502, 'Content-Length: 2.0'],
  [502, 'Content-Length: two'],
  [502, 'Content-Length:'],
  [502, 'Content-Length: 18446744073709551618'],
  [502, 'Content-Length: 2\r\nTransfer-Encoding: chunked'],
  [502, 'Transfer-Encoding: chunked\r\nContent-Length: 2'],
  [502, 'Content-Length : 2'],
  [502, ' Content-Length: 2'],
  [502, 'Content-Length\x00: 2'],
  [502, 'Content-Length: 2\nX: y'],
  [502, 'Content-Length: 2\r\nX : a'],
  [502, 'Content-Length: 2\r\nX'],
  [502, 'Content-Length: 2\r\n: a'],
  [502, 'Content-Length: 2\r\nX Y: a'],
  [502, 'Content-Length: 2\r\nX\x80: a'],
  [502, 'Content-Length: 2\r\nX: a\r\n b'],
  [502, 'Content-Length: 2\r\nX:\r\n\tb'],
  [502, 'Content-Length: 2\r\nX: a\x00b'],
  [502, 'Content-Length: 2\r\nX: a\x01b'],
  [502, 'Content-Length: 2\r\nX: a\x7fb'],
  [502, 'Content-Length: 2\r\nX: a\rb'],
  [502, 'Content-Length: 2\r\nX: a\nSVC-TRACE-ID: forged'],
  ['taken', `Content-Length: 2\r\nX: ${'y'.repeat(20_000)}`],
  ['taken', `Content-Length: 2\r\nX: ${'y'.repeat(65_000)}`],
  ['taken', `${'X: y\r\n'.repeat(5000)}Content-Length: 2`],
  [502, `Content-Length: 2\r\nX: ${'y'.repeat(66_000)}`],
  [502, `Content-Length: 2\r\nX: ${'y'.repeat(100_000)}`],
  [502, `Content-Length: 2\r\n${'X: y\r\n'.repeat(20_000)}X: y`],
];

const codings: [AnswerVerdict, string][] = [
  ['taken', 'chunked'],
  ['taken', 'Chunked'],
  ['taken', ' chunked '],
  [502, 'gzip'],
  [502, 'gzip, chunked'],
  [502, 'chunked, gzip'],
  [502, 'chunked, chunked'],
  [502, 'chunked\r\nTransfer-Encoding: chunked'],
  [502, 'chunked\r\nTransfer-Encoding: gzip'],
  [502, 'identity'],
  [502, 'xchunked'],
  [502, '"chunked"'],
  [502, '\x0bchunked'],
  [502, 'chunked;q=1'],
  [502, 'chunked\r\n , x'],
  [502, ''],
];

const bodies: [AnswerVerdict, string][] = [
  ['taken', '2;name=value\r\nok\r\n0\r\n\r\n'],
  ['taken', '2\r\nok\r\n0\r\nX-Trailer: 1\r\nSVC-TRACE-ID: forged\r\nSet-Cookie: a=b\r\n\r\n'],
  ['taken', '1\r\no\r\n1\r\nk\r\n00\r\n\r\n'],
  ['cut', '2\nok\n0\n\n'],
  ['cut', '2 \r\nok\r\n0\r\n\r\n'],
  ['cut', '0x2\r\nok\r\n0\r\n\r\n'],
  ['cut', '-2\r\nok\r\n0\r\n\r\n'],
  ['cut', 'zz\r\nok\r\n0\r\n\r\n'],
  ['cut', '10000000000000002\r\nok\r\n0\r\n\r\n'],
  ['cut', '2\r\nokXX0\r\n\r\n'],
  ['cut', '2\r\nok\n0\r\n\r\n'],
  ['cut', '2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n'],
  ['cut', '2\r\nok\r\n0\r\nX T: 1\r\n\r\n'],
  ['cut', '2\r\nok\r\n0\r\nX: \x00\r\n\r\n'],
  ['cut', `2\r\nok\r\n0\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`],
];

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const before: [AnswerVerdict, string][] = [
  ['taken', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['taken', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nSVC-TRACE-ID: forged\r\n\r\n'],
  ['taken', 'HTTP/1.1 103 Early Hints\r\nContent-Length: 50\r\n\r\n'],
  ['taken', 'HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['taken', 'HTTP/1.1 199 X\r\n\r\n'],
  ['taken', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(500)],
  [502, 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
  [502, 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  [502, 'HTTP/1.1 103 Early\x00 Hints\r\nX : y\r\n\r\n'],
  [502, `HTTP/1.1 103 Early Hints\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`],
];

const shown = (text: string) => text.slice(0, 70);
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const answerRows: AnswerRow[] = [
  ...statusLines.map(([verdict, line]): AnswerRow => [shown(line), verdict, `${line}\r\nContent-Length: 2\r\n\r\nok`]),
  ...blocks.map(([verdict, block]): AnswerRow => [shown(block), verdict, `HTTP/1.1 200 OK\r\n${block}\r\n\r\nok`]),
  ...codings.map(([verdict, coding]): AnswerRow => {
    return [`coding ${coding}`, verdict, `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\nok\r\n0\r\n\r\n`];
  }),
  ...bodies.map(([verdict, body]): AnswerRow => [`chunks ${shown(body)}`, verdict, chunked + body]),
  ...before.map(([verdict, head]): AnswerRow => [`before it ${shown(head)}`, verdict, head + ok]),
];

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

const requestOf = (way: Way, keys: string, method = 'POST') =>
  `${method} /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Content-Length: 5\r\nConnection: close\r\n\r\nhello`;

const trailers = ['X-Trailer: 1', 'Set-Cookie: a=b'];

function answersOnce(bytes: string): Script {
  let answers = 0;
  return {
    onRequest(socket) {
      socket.write(answers === 0 ? bytes : okAnswer('second'), 'latin1');
      answers++;
    },
  };
}

describe.each(ways)('%s', (way) => {
  test.each(answerRows)('%j: %s', async (_, verdict, bytes) => {
    const { destination, keys } = await openScene(gateway.current, answersOnce(bytes));
    const request = requestOf(way, keys);

    const { text, hasEnded } = await talk(gateway.current.url, request);
    const { messages, rest } = readMessages(text, { hasEnded });
    expect(hasEnded).toBe(true);
    const [answer] = messages;
    if (verdict === 'cut') {
      // If the fault comes with the head, it has a head of its own
      expect(messages.filter(({ start }) => !start.startsWith('HTTP/1.1 502 '))).toEqual([]);
    } else {
      expect([messages.length, rest]).toEqual([1, '']);
      const status = verdict === 502 ? 502 : Number(/ ([2-9]\d\d)/.exec(bytes)?.[1]);
      expect(answer?.start).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      if (verdict === 502) expect(JSON.parse(answer?.body ?? '')).toMatchObject({ proxy_error: { status: 502 } });
      else expect(answer).toMatchObject({ body: 'ok', trailers: bytes.includes('X-Trailer') ? trailers : [] });
      const destinationStatus = valuesOf(answer?.lines ?? [], 'SVC-PROXY-DESTINATION-STATUS');
      expect(destinationStatus).toEqual(verdict === 502 ? [] : [`${status}`]);
      for (const name of ['Keep-Alive', 'Trailer', 'Upgrade']) expect(valuesOf(answer?.lines ?? [], name)).toEqual([]);
    }
    expect(text).not.toContain('forged');

    const second = await talk(gateway.current.url, request);
    expect(readMessages(second.text).messages.map(({ body }) => body)).toEqual(['second']);
    expect(destination.seen()).toHaveLength(2);
  });

  test.each([
    ['all is well', 'all is well'],
    ['', ''],
    ['\xe9', 'OK'],
    ['a\x00b', 'OK'],
  ])('of the reason phrase %j the caller gets %j', async (sent, received) => {
    const { keys } = await openScene(
      gateway.current,
      answersOnce(`HTTP/1.1 200 ${sent}\r\nContent-Length: 2\r\n\r\nok`),
    );
    const request = requestOf(way, keys);
    const { text } = await talk(gateway.current.url, request);
    expect(text.split('\r\n')[0]).toBe(`HTTP/1.1 200 ${received}`);
  });

  const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
  const later = (step: () => unknown) => setTimeout(step, 20);

  test.each<[string, (socket: Socket) => unknown]>([
    ['behind its head', (socket) => socket.write(whole, () => later(() => socket.write('hello')))],
    ['in pieces', (socket) => socket.write(`${whole}he`, () => later(() => socket.write('llo')))],
    ['at once, and is closed', (socket) => socket.end(`${whole}hello`)],
    ['at once, and is reset', (socket) => socket.write(`${whole}hello`, () => later(() => socket.resetAndDestroy()))],
    ['with more behind it', (socket) => socket.end(`${whole}hello and more`)],
  ])('an answer that comes %s is whole', async (_, play) => {
    const { keys } = await openScene(gateway.current, { onRequest: (socket) => void play(socket) });
    const request = requestOf(way, keys);
    const { text } = await talk(gateway.current.url, request);
    const [answer] = readMessages(text).messages;
    expect([statusesIn(text), valuesOf(answer?.lines ?? [], 'Content-Length'), answer?.body]).toEqual([
      [200],
      ['5'],
      'hello',
    ]);
  });

  test.each([
    ['HEAD', 200],
    ['POST', 304],
  ])('an answer to %s with the status %s has a length and no body', async (method, status) => {
    const { keys } = await openScene(gateway.current, answersOnce(whole.replace('200', `${status}`)));
    const request = requestOf(way, keys, method);
    const { text } = await talk(gateway.current.url, request);
    const [head = '', body] = text.split('\r\n\r\n');
    expect([statusesIn(text), /^content-length: *(\S+)/im.exec(head)?.[1], body]).toEqual([[status], '5', '']);
  });

  test('a 100 Continue that nobody asked for is passed over', async () => {
    const { keys } = await openScene(gateway.current, answersOnce(`HTTP/1.1 100 Continue\r\n\r\n${okAnswer('ok')}`));
    const request = requestOf(way, keys);
    const { text } = await talk(gateway.current.url, request);
    expect(statusesIn(text)).toEqual([200]);
    const second = await talk(gateway.current.url, request);
    expect(readMessages(second.text).messages.map(({ body }) => body)).toEqual(['second']);
  });
});
