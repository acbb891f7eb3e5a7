import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));

async function whileKeysWait(task: () => Promise<void>): Promise<void> {
  await gateway.current.db.transaction().execute(async (tx) => {
    await sql`lock table applications in access exclusive mode`.execute(tx);
    await task();
  });
}

async function someLookUpWaits(): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%applications%'
  `.execute(gateway.current.db);
  return rows[0]?.n === 1;
}

async function sendAndLeave(text: string): Promise<void> {
  const { hostname, port } = new URL(gateway.current.url);
  const socket = connect(Number(port), hostname, () => socket.write(text));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => socket.destroy());
  await eventually('its key is looked up', someLookUpWaits);
  socket.destroy();
  await closed;
}

test.each([
  ['nothing', '\r\n'],
  ['a body in memory', 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'],
  ['a body of which more is to come', 'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{}'],
  ['a body that streams', 'Content-Type: image/png\r\nContent-Length: 9000\r\n\r\nabc'],
  ['a Connection of its own', 'SVC-PROXY-CONNECTION: close\r\n\r\n'],
])('a caller with %s that leaves while its key is looked up: the destination is not called', async (_, rest) => {
  const { tenant, destination } = gateway.current;
  let connections = 0;
  destination.server.on('connection', () => connections++);
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const keys = `SVC-API-KEY: ${application.key}\r\nSVC-PROXY-KEY: ${proxy.key}\r\n`;
  await whileKeysWait(async () => {
    await sendAndLeave(`POST /proxy HTTP/1.1\r\nHost: x\r\n${keys}${rest}`);
    await eventually('the gateway notices', () => gateway.current.logLines.some((line) => line.includes(proxy.id)));
  });
  await wait(200);
  expect(connections).toBe(0);
});
