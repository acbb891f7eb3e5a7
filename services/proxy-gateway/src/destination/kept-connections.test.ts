import { createServer } from 'node:http';
import { slow } from '@sluice/testing';
import { closeAll, listen, onClose, open, outcomeOf, until } from '../testing/destination-servers.ts';
import { memoryInUse } from '../testing/memory-in-use.ts';
import { forward, streamThrough } from './index.ts';

afterEach(closeAll);

slow('4.6 s').each([
  ['held', forward],
  ['streamed', streamThrough],
])('a connection that is kept keeps no body of a call, %s', async (_, send: typeof forward) => {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    socket.on('close', () => connections--);
  });
  const origin = await listen(server, 'http');
  onClose(() => server.closeAllConnections());
  const destinations = open({ keepAliveTimeoutMs: 60_000 });
  const bodies: WeakRef<Buffer>[] = [];
  const run = async () => {
    const body = Buffer.alloc(1 << 20);
    bodies.push(new WeakRef(body));
    const request = { tenantId: 't', origin, path: '/', method: 'POST', headers: [], body };
    expect(await outcomeOf((sink) => send(request, destinations, sink))).toMatchObject({ status: 200, isWhole: true });
  };
  await Promise.all([run(), run(), run()]);
  await until(() => {
    memoryInUse(); // collects the garbage
    return bodies.every((body) => body.deref() === undefined);
  });
  expect(connections).toBe(3);
});
