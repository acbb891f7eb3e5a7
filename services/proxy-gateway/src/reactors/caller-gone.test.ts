import { type IncomingMessage, request } from 'node:http';
import { eventually, useStack } from '@sluice/testing';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import { testRuns } from '../testing/test-runs.ts';

/** A Tenant has one place. */
const gateway = useStack((stack) => startTestGateway(stack, { REACTOR_THREADS: '2' }));

/** Goes on after its first call has failed. */
const code = `module.exports = async ({ args }) => {
  await fetch(args.url + '/first').catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await fetch(args.url + '/second');
  return {};
}`;

/** Its answers wait until they are released. */
function holdDestination() {
  const { destination } = gateway.current;
  const held = Promise.withResolvers<void>();
  const state = { closed: 0, release: held.resolve };
  destination.seen.length = 0;
  destination.answer = (_, response) => {
    response.on('close', () => state.closed++);
    void held.promise.then(() => response.end('{}'));
  };
  return state;
}

const seen = () => gateway.current.destination.seen.map(({ url }) => url);

test('a caller that leaves ends its run: its call is aborted, its thread and place are free, and the log tells of the call', async () => {
  const { url, tenant, destination, db, metrics } = gateway.current;
  const held = holdDestination();
  const { key } = await tenant.application();
  const { id } = await tenant.reactor({ code });
  const leaving = new AbortController();
  const reacted = fetch(`${url}/reactors/${id}/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ args: { url: destination.url } }),
    signal: leaving.signal,
  }).catch((error: Error) => error.name);
  await eventually('it calls out', () => seen().length === 1);
  leaving.abort();
  expect(await reacted).toBe('AbortError');
  await eventually('the call is aborted', () => held.closed === 1);
  const hasEnded = async () => {
    const text = await metrics.metrics();
    return text.includes('sluice_reactor_places_taken 0') && text.includes('sluice_reactor_running 0');
  };
  await eventually('its place and its thread are free', hasEnded);
  const echo = await tenant.reactor({ code: 'module.exports = async (req) => ({ raw: req.args })' });
  expect((await reactAt(url, { id: echo.id, key, body: { args: 1 } })).body).toEqual({ raw: 1 });
  expect(seen()).toEqual(['/first']);
  const rows = () => db.selectFrom('audit_log').select('detail').where('entity_id', '=', id).execute();
  await eventually('the call is in the log', async () => (await rows()).length === 1);
  expect(await rows()).toMatchObject([{ detail: { calls: 1, destination_hosts: [new URL(destination.url).host] } }]);
});

test('an asynchronous run goes on without its caller', async () => {
  const { url, tenant, destination } = gateway.current;
  const held = holdDestination();
  const { key } = await tenant.application();
  const { id } = await tenant.reactor({ code });
  const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
  const asked = request(`${url}/reactors/${id}/react-async`, { method: 'POST', headers, agent: false });
  asked.end(JSON.stringify({ args: { url: destination.url } }));
  const response = await new Promise<IncomingMessage>((resolve) => asked.once('response', resolve));
  const body = JSON.parse(Buffer.concat(await response.toArray()).toString());
  await eventually('it calls out', () => seen().length === 1);
  await eventually('its caller has left', () => asked.destroyed);
  held.release();
  const { end } = testRuns(gateway.current);
  expect((await end(id, body.async_reactor_request_id, key)).body).toEqual({});
  expect(seen()).toEqual(['/first', '/second']);
});
