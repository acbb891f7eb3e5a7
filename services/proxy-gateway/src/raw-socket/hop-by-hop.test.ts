import { useStack } from '@sluice/testing';
import { readMessages, talk, valuesOf } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

function names(lines: readonly string[] = [], usual: readonly string[]): string[] {
  return lines.map((line) => line.slice(0, line.indexOf(':')).toLowerCase()).filter((name) => !usual.includes(name));
}

const toDestination: [lines: string[], arriving: string[]][] = [
  [
    ['X-A: 1', 'X-B: 2'],
    ['x-a', 'x-b'],
  ],
  [['Connection: X-A', 'X-A: 1', 'X-B: 2'], ['x-b']],
  [['X-A: 1', 'Connection: x-a', 'x-A: 3'], []],
  [['Connection: X-A, X-B', 'X-A: 1', 'X-B: 2'], []],
  [['Connection: X-A', 'Connection: X-B', 'X-A: 1', 'X-B: 2'], []],
  [['Connection: ,, X-A ,', 'X-A: 1'], []],
  [['Connection: keep-alive, X-A', 'X-A: 1', 'Keep-Alive: timeout=5'], []],
  [['Connection: Authorization', 'Authorization: Bearer x'], []],
  [['Connection: Host'], []],
  [['Connection: Content-Length'], []],
  [['Connection: Content-Type'], []],
  [['Connection: Transfer-Encoding'], []],
  [['Connection: SVC-PROXY-KEY, SVC-API-KEY'], []],
  [['Keep-Alive: timeout=5', 'Proxy-Connection: keep-alive'], []],
  [['TE: trailers, gzip', 'Trailer: X-T'], []],
  [['Proxy-Authorization: Basic x', 'Proxy-Authenticate: y'], []],
  [['Upgrade: h2c', 'HTTP2-Settings: AAMA'], []],
  [['Expect: 100-continue'], []],
  [['CDN-Loop: other'], []], // besides the gateway's own, which every call has
  [['SVC-ANYTHING: 1', 'svc-x: 2', 'Svc-Trace-Id: 3'], []],
  [
    ['SVCX: 1', 'SVC_API_KEY: 2', 'X-SVC-API-KEY: 3'],
    ['svcx', 'svc_api_key', 'x-svc-api-key'],
  ],
  [
    ['Via: 1.1 a', 'X-Forwarded-Host: h', 'X-Forwarded-For-Us: 1'],
    ['via', 'x-forwarded-host', 'x-forwarded-for-us'],
  ],
  [['X-Forwarded-For: 10.0.0.7', 'x-forwarded-for: 1.2.3.4', 'Forwarded: for=10.0.0.7', 'X-Real-IP: 10.0.0.7'], []],
  [
    ['X-Two: a', 'X-Two: b'],
    ['x-two', 'x-two'],
  ],
  [
    ['Max-Forwards: 1', 'Range: bytes=0-1', 'If-None-Match: x'],
    ['max-forwards', 'range', 'if-none-match'],
  ],
];

const toClient: [lines: string[], arriving: string[]][] = [
  [
    ['X-A: 1', 'Set-Cookie: a', 'Set-Cookie: b'],
    ['x-a', 'set-cookie', 'set-cookie'],
  ],
  [['Connection: X-A', 'X-A: 1', 'X-B: 2'], ['x-b']],
  [['X-A: 1', 'connection: close, x-a'], []],
  [['Connection: X-A', 'Connection: X-B', 'X-A: 1', 'X-B: 2'], []],
  [['Connection: Set-Cookie', 'Set-Cookie: a'], []],
  [['Connection: SVC-PROXY-DESTINATION-STATUS'], []],
  [['Keep-Alive: timeout=5, max=1', 'Proxy-Connection: close'], []],
  [['Proxy-Authenticate: Basic', 'Proxy-Authentication-Info: x'], []],
  [['Proxy-Status: x'], ['proxy-status']],
  [['TE: x', 'Trailer: X-T', 'HTTP2-Settings: x'], []],
  [['Upgrade: h2c', 'Alt-Svc: h3=":443"'], ['alt-svc']],
  [['SVC-PROXY-DESTINATION-STATUS: 999', 'SVC-TRACE-ID: forged', 'svc-x: 1'], []],
  [
    ['Content-Encoding: gzip', 'ETag: "x"', 'Via: 1.1 b', 'Date: x'],
    ['content-encoding', 'etag', 'via', 'date'],
  ],
];

describe.each(ways)('%s', (way) => {
  const request = (keys: string, lines: readonly string[]) =>
    `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${lines.map((line) => `${line}\r\n`).join('')}` +
    `${contentTypeOf(way)}Content-Length: 5\r\nConnection: close\r\n\r\nhello`;

  test.each(toDestination)('of a request, %j: %j arrive', async (lines, arriving) => {
    const scene = await openScene(gateway.current);
    const { text } = await talk(gateway.current.url, request(scene.keys, lines));
    expect(readMessages(text).messages.at(-1)?.start).toBe('HTTP/1.1 200 OK');
    const [seen] = scene.destination.seen();
    const usual = ['host', 'connection', 'content-length', 'content-type', 'cdn-loop'];
    expect(names(seen?.lines, usual)).toEqual(arriving);
    expect(seen?.body).toBe('hello');
    expect(scene.destination.rest()).toEqual([]);
  });

  test.each(toClient)('of an answer, %j: %j arrive', async (lines, arriving) => {
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => socket.write(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`),
    });
    const { text } = await talk(gateway.current.url, request(scene.keys, []));
    const [reply] = readMessages(text).messages;
    const usual = ['svc-trace-id', 'svc-proxy-destination-status', 'connection', 'content-length'];
    expect(names(reply?.lines, usual)).toEqual(arriving);
    expect(reply?.body).toBe('ok');
    expect(text).not.toMatch(/forged|: 999\r/);
  });

  test.each(['GET', 'HEAD', 'DELETE', 'POST'])(
    'a Trailer header of a %s without a body harms nobody',
    async (method) => {
      const scene = await openScene(gateway.current);
      const chosen = way === 'streamed' ? 'SVC-PROXY-CONNECTION: keep-alive\r\n' : '';
      const bytes = `${method} /proxy HTTP/1.1\r\nHost: x\r\n${scene.keys}${chosen}Trailer: X-T\r\nConnection: close\r\n\r\n`;
      const { text } = await talk(gateway.current.url, bytes);
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect(scene.destination.seen()).toHaveLength(1);
      expect(scene.destination.texts.join('').toLowerCase()).not.toContain('trailer');
    },
  );

  test('headers keep their case, their bytes, and the order of those with one name, both ways', async () => {
    const lines = ['X-B: 1', 'X-B: 3', 'x-a:  two  spaces ', 'x-latin: \xe9\xff', 'X-Empty:', '__proto__: x'];
    const scene = await openScene(gateway.current, {
      onRequest: (socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`, 'latin1'),
    });
    const { text } = await talk(gateway.current.url, request(scene.keys, lines));
    // The space around a value is not part of it (RFC 9112 section 5.1), and the order of different names is free
    const ours = (all: readonly string[] = []) =>
      all
        .filter((line) => /^(x-|__)/i.test(line))
        .map((line) => line.replace(/:\s*(.*?)\s*$/, ':$1'))
        .toSorted();
    expect(ours(scene.destination.seen()[0]?.lines)).toEqual(ours(lines));
    expect(ours(readMessages(text).messages[0]?.lines)).toEqual(ours(lines));
  });

  test('all cookies arrive, on one line or on several', async () => {
    const scene = await openScene(gateway.current);
    await talk(gateway.current.url, request(scene.keys, ['Cookie: a=1', 'Cookie: b=2; c=3']));
    const cookies = scene.destination.seen().flatMap(({ lines }) => valuesOf(lines, 'Cookie'));
    expect(cookies.join('; ')).toBe('a=1; b=2; c=3');
  });
});
