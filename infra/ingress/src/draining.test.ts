import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { listen } from '@sluice/service-runtime';
import { createIngressServer } from './ingress.ts';

/** Before a service that keeps its connections, and answers with what it was sent once the ingress drains. */
async function openDraining(stack: AsyncDisposableStack) {
  const drain = new AbortController();
  const draining = once(drain.signal, 'abort');
  const service = createServer(async (request, response) => {
    await draining;
    request.pipe(response.writeHead(200, { 'x-own': 'here' }));
  });
  const local = { host: '127.0.0.1', port: 0, stack };
  const origin = new URL(`http://127.0.0.1:${await listen(service, local)}`);
  const ingress = createIngressServer({
    origins: { 'proxy-gateway': origin, 'token-vault': origin, 'management-api': origin },
    headerPrefix: 'SVC',
    onFailure: (error) => console.error(error),
  });
  const port = await listen(ingress, { ...local, draining: drain.signal });
  return { port, drain: () => drain.abort(), arrival: () => once(service, 'request') };
}

const post = (more = '') => `POST /proxy HTTP/1.1\r\nHost: x\r\n${more}Content-Length: 5\r\n\r\nhello`;

test.each([
  ['that is under way', post(), true],
  ['on a new connection', post(), false],
  ['that waits for 100 Continue', post('Expect: 100-continue\r\n'), false],
  ['that is refused', 'POST http://x/ HTTP/1.1\r\nHost: x\r\n\r\n', false],
])('the answer to a request %s ends the connection while the ingress drains', async (_name, bytes, isUnderWay) => {
  await using stack = new AsyncDisposableStack();
  const { port, drain, arrival } = await openDraining(stack);
  if (!isUnderWay) drain();
  const socket = connect(port, '127.0.0.1');
  const all = text(socket);
  const arrived = isUnderWay ? arrival() : undefined;
  socket.write(bytes);
  await arrived;
  drain();
  const answer = await all;
  expect(answer.match(/^connection: .*$/gim)).toEqual(['Connection: close']);
  if (bytes.startsWith('POST /')) expect(answer).toMatch(/x-own: here[\s\S]*hello/);
});
