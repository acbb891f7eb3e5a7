import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { answerRows } from './testing/answer-rows.ts';
import { talk } from './testing/raw-client.ts';
import { readMessages, valuesOf } from './testing/read-messages.ts';
import { closeScenes, contentTypeOf, openScene, statusesIn, ways } from './testing/scene.ts';
import { okAnswer, type Script } from './testing/scripted-destination.ts';

const gateway = useStack((stack) => startTestGateway(stack));
afterEach(closeScenes);

/** Trailers in the rows that may pass. */
const trailers = ['X-Trailer: 1', 'Set-Cookie: a=b'];

/** Sends the bytes as the first answer, and a valid answer from then on. */
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
    const request = `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Content-Length: 5\r\nConnection: close\r\n\r\nhello`;

    const { text, hasEnded } = await talk(gateway.current.url, request);
    const { messages, rest } = readMessages(text, { hasEnded });
    expect(hasEnded).toBe(true);
    const [answer] = messages;
    if (verdict === 'cut') {
      expect(messages).toEqual([]);
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
    const request = `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Content-Length: 5\r\nConnection: close\r\n\r\nhello`;
    const { text } = await talk(gateway.current.url, request);
    expect(text.split('\r\n')[0]).toBe(`HTTP/1.1 200 ${received}`);
  });

  test('a 100 Continue that nobody asked for is passed over', async () => {
    const { keys } = await openScene(gateway.current, answersOnce(`HTTP/1.1 100 Continue\r\n\r\n${okAnswer('ok')}`));
    const request = `POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${contentTypeOf(way)}Content-Length: 5\r\nConnection: close\r\n\r\nhello`;
    const { text } = await talk(gateway.current.url, request);
    expect(statusesIn(text)).toEqual([200]);
    const second = await talk(gateway.current.url, request);
    expect(readMessages(second.text).messages.map(({ body }) => body)).toEqual(['second']);
  });
});
