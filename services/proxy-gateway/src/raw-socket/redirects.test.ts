import { useStack } from '@sluice/testing';
import { readMessages, talk, valuesOf } from '@sluice/testing/raw';
import { closeScenes, contentTypeOf, openScene, ways } from '../testing/scene.ts';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
afterEach(closeScenes);

describe.each(ways)('%s', (way) => {
  test.each([
    ['301 Moved', 'Location'],
    ['302 Found', 'Location'],
    ['303 See Other', 'Location'],
    ['307 Temporary', 'Location'],
    ['308 Permanent', 'Location'],
    ['300 Choices', 'Location'],
    ['201 Created', 'Location'],
    ['200 OK', 'Refresh'],
    ['200 OK', 'Content-Location'],
    ['421 Misdirected', 'Alt-Svc'],
    ['401 Unauthorized', 'WWW-Authenticate'],
    ['407 Proxy', 'Proxy-Authenticate'],
    ['408 Timeout', 'Retry-After'],
    ['503 Busy', 'Retry-After'],
  ])('%s with %s is passed on, and nobody is called a second time', async (status, header) => {
    const elsewhere = await openScene(gateway.current);
    const answer = (url: string) => `HTTP/1.1 ${status}\r\n${header}: ${url}\r\nContent-Length: 0\r\n\r\n`;
    const scene = await openScene(gateway.current, {
      onRequest: (socket) => socket.write(answer(elsewhere.destination.url)),
    });
    const { text } = await talk(
      gateway.current.url,
      `POST /proxy HTTP/1.1\r\nHost: x\r\n${scene.keys}${contentTypeOf(way)}Connection: close\r\nContent-Length: 2\r\n\r\nhi`,
    );
    const [reply, ...others] = readMessages(text).messages;
    expect(others).toEqual([]);
    expect(reply?.start).toContain(status.slice(0, 3));
    const isHopByHop = header === 'Proxy-Authenticate';
    expect(valuesOf(reply?.lines ?? [], header)).toEqual(isHopByHop ? [] : [elsewhere.destination.url]);
    expect(scene.destination.seen()).toHaveLength(1);
    expect(elsewhere.destination.sockets).toEqual([]);
  });
});
