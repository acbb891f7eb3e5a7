import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { framingRows } from './testing/framing-rows.ts';
import { startLenientProxy } from './testing/lenient-proxy.ts';
import { talk } from './testing/raw-client.ts';
import { readMessages, valuesOf } from './testing/read-messages.ts';
import { closeScenes, contentTypeOf, openScene, type Scene, statusesIn, type Way, ways } from './testing/scene.ts';

const gateway = useStack((stack) => startTestGateway(stack));
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

/** Expects no whole request, and no byte of the smuggled one. */
function expectNothing({ destination }: Scene) {
  expect(destination.seen()).toEqual([]);
  expect(destination.texts.join('')).not.toMatch(/next|SVC-/i);
}

/** Expects both requests, with unambiguous framing, and with the first one's headers separate from its trailers. */
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
