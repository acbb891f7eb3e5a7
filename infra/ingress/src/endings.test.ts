import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { eventually, useStack } from '@sluice/testing';
import { cutAnswers, openClient, readMessages, startScripted } from '@sluice/testing/raw';
import { createIngressServer } from './ingress.ts';

const ends: [string, (socket: Socket) => void][] = [
  ['closes', (socket) => socket.end()],
  ['resets', (socket) => socket.resetAndDestroy()],
];

let sent = '';

const ingress = useStack(async (stack) => {
  const service = await startScripted({ onRequest: (socket) => socket.write(`HTTP/1.1 200 OK\r\n${sent}`) });
  stack.defer(() => service.close());
  const url = new URL(service.url);
  const origins = { 'proxy-gateway': url, 'token-vault': url, 'management-api': url };
  const server = createIngressServer({ origins, headerPrefix: 'SVC', onFailure: () => undefined });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return { service, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
});

async function bodiesFor(version: string, leave: (socket: Socket) => void): Promise<string[]> {
  const { service, url } = ingress.current;
  const client = openClient(url);
  client.write(`POST /proxy HTTP/${version}\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello`);
  await eventually('the head', () => client.text().includes('\r\n\r\n'));
  for (const socket of service.sockets.splice(0)) leave(socket);
  const text = await client.ended;
  return readMessages(text, { hasEnded: !client.isReset() }).messages.map(({ body }) => body);
}

describe.each(ends)('a service that %s', (_, leave) => {
  describe.each(['1.1', '1.0'])('HTTP/%s', (version) => {
    test.each(cutAnswers)('%s, %j: the part never looks like the whole', async (_where, part) => {
      sent = part;
      expect(await bodiesFor(version, leave)).toEqual([]);
    });

    test('after its whole answer: it is the whole', async () => {
      sent = 'Content-Length: 5\r\n\r\nhello';
      expect(await bodiesFor(version, leave)).toEqual(['hello']);
    });
  });
});
