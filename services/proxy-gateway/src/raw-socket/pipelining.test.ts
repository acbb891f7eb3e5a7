import { setTimeout as wait } from 'node:timers/promises';
import { eventually, slow, useStack } from '@sluice/testing';
import { okAnswer, openClient, readMessages, talk, valuesOf } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, statusesIn, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

describe.each(ways)('%s', (way) => {
  const post = (path: string, keys: string, more = '') =>
    `POST /proxy/${path} HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}${more}Content-Length: 5\r\n\r\nhello`;
  const get = (path: string, keys: string, more = '') => `GET /proxy/${path} HTTP/1.1\r\nHost: x\r\n${keys}${more}\r\n`;

  test('requests with keys of their own are answered in order, each by its own destination', async () => {
    const slow = await openScene(gateway.current, {
      onRequest: (socket) => void setTimeout(() => socket.write(okAnswer('slow')), 80),
    });
    const fast = await openScene(gateway.current);
    const pieces = [
      post('1', slow.keys),
      get('2', fast.keys),
      get('3', 'SVC-API-KEY: none\r\nSVC-PROXY-KEY: none\r\n'),
      post('4', fast.keys),
      get('5', ''),
      get('6', slow.keys),
      get('7', fast.keys, 'Connection: close\r\n'),
    ];
    const { text } = await talk(gateway.current.url, pieces.join(''));
    const { messages, rest } = readMessages(text);
    expect(rest).toBe('');
    expect(messages.map(({ start, body }) => [Number(start.split(' ')[1]), body.slice(0, 12)])).toEqual([
      [200, 'slow'],
      [200, '/2'],
      [404, '{"proxy_erro'],
      [200, '/4'],
      [400, '{"proxy_erro'],
      [200, 'slow'],
      [200, '/7'],
    ]);
    expect(slow.destination.seen().map(({ start }) => start)).toEqual(['POST /1 HTTP/1.1', 'GET /6 HTTP/1.1']);
    const atFast = fast.destination.seen().map(({ start }) => start);
    expect(atFast.toSorted()).toEqual(['GET /2 HTTP/1.1', 'GET /7 HTTP/1.1', 'POST /4 HTTP/1.1']);
    const traces = messages.map(({ lines }) => valuesOf(lines, 'SVC-TRACE-ID').join());
    expect(new Set(traces).size).toBe(7);
  });

  test('no request overtakes one that may change something (RFC 9112 section 9.3.2)', async () => {
    let isAnswered = false;
    let hasOvertaken = false;
    const scene = await openScene(gateway.current, {
      onRequest(socket, { start }) {
        if (start.startsWith('POST')) {
          setTimeout(() => {
            isAnswered = true;
            socket.write(okAnswer('created'));
          }, 60);
        } else {
          hasOvertaken = !isAnswered;
          socket.write(okAnswer('read'));
        }
      },
    });
    await talk(gateway.current.url, post('a', scene.keys) + get('b', scene.keys, 'Connection: close\r\n'));
    expect([isAnswered, hasOvertaken]).toEqual([true, false]);
  });

  test.each([
    ['a head that cannot be read', 'GET /proxy HTTP/1.1\r\nHost : x\r\n\r\n', [200, 400]],
    ['no HTTP', '\x00\x01\x02', [200, 400]],
    ['an unknown method', 'FOO /proxy HTTP/1.1\r\nHost: x\r\n\r\n', [200, 400]],
    ['a block over 16 KiB', `GET /proxy HTTP/1.1\r\nX: ${'y'.repeat(17_000)}`, [200, 431]],
  ])('%s is answered after the request before it', async (_, bytes, statuses) => {
    const whole = 'whole'.repeat(10);
    const scene = await openScene(gateway.current, {
      onRequest(socket) {
        socket.write(okAnswer(whole).slice(0, -20));
        setTimeout(() => socket.write(whole.slice(-20)), 60);
      },
    });
    const { text } = await talk(gateway.current.url, [post('1', scene.keys), bytes], { pauseMs: 30 });
    const { messages, rest } = readMessages(text);
    expect(messages.map(({ start }) => Number(start.split(' ')[1]))).toEqual(statuses);
    expect([messages[0]?.body, rest]).toEqual([whole, '']);
    expect(scene.destination.seen()).toHaveLength(1);
  });

  test('a body that breaks behind another request is not answered in its place', async () => {
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => void setTimeout(() => socket.write(okAnswer('first')), 60),
    });
    const broken = `POST /proxy/2 HTTP/1.1\r\nHost: x\r\n${scene.keys}${contentTypeOf(way)}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
    const { text, hasEnded } = await talk(gateway.current.url, post('1', scene.keys) + broken);
    expect(hasEnded).toBe(true);
    expect(statusesIn(text)).not.toContain(400);
    expect(scene.destination.seen().map(({ start }) => start)).not.toContain('POST /2 HTTP/1.1');
  });

  test('what follows Connection: close is not read', async () => {
    const scene = await openScene(gateway.current);
    const { text } = await talk(
      gateway.current.url,
      post('1', scene.keys, 'Connection: close\r\n') + post('2', scene.keys) + post('3', scene.keys),
    );
    expect(statusesIn(text)).toEqual([200]);
    await wait(50);
    expect(scene.destination.seen().map(({ start }) => start)).toEqual(['POST /1 HTTP/1.1']);
  });

  test('a client that pipelines and goes away leaves no call behind', async () => {
    const scene = await openScene(gateway.current, {});
    const client = openClient(gateway.current.url);
    client.write(Array.from({ length: 20 }, (_, i) => get(`${i}`, scene.keys)).join(''));
    await eventually('a call', () => scene.destination.sockets.length > 0);
    client.socket.destroy();
    await eventually('the end of all calls', () => scene.destination.sockets.every(({ destroyed }) => destroyed));
  });

  slow('0.8 s')('hundreds of requests in one piece, of more than one read, are answered in order', async () => {
    const scene = await openScene(gateway.current);
    const many = Array.from({ length: 500 }, (_, i) =>
      get(`${i}`, scene.keys, i === 499 ? 'Connection: close\r\n' : ''),
    );
    expect(many.join('').length).toBeGreaterThan(64 * 1024);
    const { text } = await talk(gateway.current.url, many.join(''), { withinMs: 90_000 });
    expect(readMessages(text).messages.map(({ body }) => body)).toEqual(many.map((_, i) => `/${i}`));
  });
});

test('the body of a request whose head came behind an offer of an upgrade is no request', async () => {
  const { destination, keys } = await openScene(gateway.current);
  const request = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: x\r\n${keys}${more}\r\n`;
  const evil = request('GET /proxy/evil');
  const offer = request('GET /proxy/x', 'Connection: Upgrade\r\nUpgrade: h2c\r\n');
  const { text, hasEnded } = await talk(gateway.current.url, [
    offer + request('POST /proxy/y', `Content-Length: ${evil.length}\r\n`),
    evil,
  ]);
  expect([statusesIn(text), hasEnded]).toEqual([[200], true]);
  expect(destination.seen().map(({ start }) => start)).toEqual(['GET /x HTTP/1.1']);
});

test('CONNECT behind a request that is not answered yet ends the connection, and takes no answer’s place', async () => {
  const { keys } = await openScene(gateway.current, {
    onRequest: (socket) => void setTimeout(() => socket.write(okAnswer('late')), 100),
  });
  const { text, hasEnded } = await talk(
    gateway.current.url,
    `GET /proxy HTTP/1.1\r\nHost: x\r\n${keys}\r\nCONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  expect([text, hasEnded]).toEqual(['', true]);
});
