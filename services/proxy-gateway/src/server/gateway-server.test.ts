import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { call, eventually, slow, useStack } from '@sluice/testing';
import { openClient } from '@sluice/testing/raw';
import { statusesIn } from '../testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

/** Node checks for late heads once a second. */
const headMs = 1000;
const gateway = useStack((stack) => startTestGateway(stack, { CLIENT_HEAD_TIMEOUT_MS: `${headMs}` }));

const connectRequest = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n';

function openSocket(text: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.current.url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () =>
      socket.write(text, () => resolve(socket)),
    );
    socket.on('error', () => socket.destroy());
  });
}

test('a client that resets after CONNECT ends its connection, and not the process', async () => {
  for (let i = 0; i < 20; i++) {
    const socket = await openSocket(connectRequest + 'x'.repeat(100));
    await wait(i % 4);
    socket.resetAndDestroy();
  }
  await wait(100);
  expect((await call(gateway.current.url, 'GET', '/proxy')).status).toBe(400);
});

test('CONNECT is 400, and the gateway does not wait for the client to close', async () => {
  const socket = await openSocket(connectRequest);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await eventually('the refusal', () => text.startsWith('HTTP/1.1 400 '));
  let isReset = false;
  socket.on('error', () => {
    isReset = true;
  });
  await eventually('the end of the connection', () => {
    socket.write('more');
    return isReset;
  });
});

slow('0.9 s')('heads that we leave unread, since others wait before them, are not late', async () => {
  const { tenant, destination } = gateway.current;
  const proxy = await tenant.proxy({ destination: destination.url });
  const keys = `SVC-API-KEY: ${(await tenant.application()).key}\r\nSVC-PROXY-KEY: ${proxy.key}\r\n`;
  let answers = 0;
  destination.answer = (_request, response) => {
    if (answers++ === 0) setTimeout(() => response.end(), headMs + 2500);
    else response.end();
  };
  const client = openClient(gateway.current.url);
  client.write(`GET /proxy HTTP/1.1\r\nHost: x\r\n${keys}\r\n`.repeat(1000));
  client.write(`GET /proxy HTTP/1.1\r\nHost: x\r\n${keys}Connection: close\r\n\r\n`);
  const statuses = statusesIn(await client.ended);
  expect([statuses.length, new Set(statuses)]).toEqual([1001, new Set([200])]);
});
