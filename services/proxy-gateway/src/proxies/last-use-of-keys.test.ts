import { call, useStack } from '@sluice/testing';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));

test('a stop writes which keys called Proxies and reactors; sessions, Proxy keys and unread keys count for none', async () => {
  const { db, tenant, destination, startAnother } = gateway.current;
  const [invoking, refused, reacting, unread, authorizing] = [
    await tenant.application(),
    await tenant.application({ permissions: ['token:create'] }),
    await tenant.application(),
    await tenant.application(),
    await tenant.application(),
  ];
  const session = await tenant.session(authorizing.id);
  const proxy = await tenant.proxy({ destination: destination.url, applicationId: authorizing.id });
  const open = await tenant.proxy({ destination: destination.url, requireAuth: false });
  const reactor = await tenant.reactor({ code: 'module.exports = async () => ({ raw: 1 })' });
  const closing = new AsyncDisposableStack();
  const { url, metrics } = await startAnother({}, { stack: closing, draining: new AbortController().signal });
  const invoke = async (key: string, proxyKey = proxy.key) =>
    (await call(url, 'POST', '/proxy', { key, body: {}, headers: { 'SVC-PROXY-KEY': proxyKey } })).status;
  expect([await invoke(invoking.key), await invoke(invoking.key), await invoke(refused.key)]).toEqual([200, 200, 403]);
  expect([await invoke(session.key), await invoke(unread.key, open.key), await invoke('nothing')]).toEqual([
    200, 200, 401,
  ]);
  expect((await reactAt(url, { id: reactor.id, key: reacting.key, body: { args: {} } })).status).toBe(200);
  expect(await metrics.getSingleMetricAsString('sluice_key_uses_waiting')).toMatch(/^sluice_key_uses_waiting 3$/m);
  expect(await db.selectFrom('key_uses').selectAll().execute()).toEqual([]);
  await closing.disposeAsync();
  const rows = await db.selectFrom('key_uses').select(['tenant_id', 'application_id']).execute();
  expect(new Set(rows.map(({ tenant_id }) => tenant_id))).toEqual(new Set([tenant.id]));
  expect(rows.map(({ application_id }) => application_id).sort()).toEqual(
    [invoking.id, refused.id, reacting.id].sort(),
  );
});
