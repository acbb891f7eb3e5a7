import { openTestDatabase, randomSecrets, startTestService, useStack } from '@sluice/testing';
import { configSchema } from '../../config.ts';
import { start } from '../../service.ts';
import { withTenants } from '../../testing/test-management.ts';

const database = useStack(async (stack) => ({ ...(await openTestDatabase(stack)), secrets: randomSecrets() }));

/** Of an own, so that its stop can be seen. */
async function startManagement(stack: AsyncDisposableStack) {
  const { db, url: databaseUrl, secrets } = database.current;
  const { url, metrics } = await startTestService({ configSchema, start }, { databaseUrl, secrets, stack });
  return { metrics, ...(await withTenants({ db, url, databaseUrl, secrets })) };
}

const hourOf = (ms: number) => new Date(Math.floor(ms / 3_600_000) * 3_600_000).toISOString();

test('a stop writes which keys were used, by whoever they are answered; another process shows it', async () => {
  const from = Date.now();
  const closing = new AsyncDisposableStack();
  const { metrics, ...api } = await startManagement(closing);
  const { id, key } = await api.application();
  const { body: second } = await api.send('POST', `/applications/${id}/keys`);
  const { id: neverUsed } = await api.application();
  const manage = (path: string) => ({ path, key: api.tenant.management_key });
  expect((await api.send('GET', '/permissions', { key })).status).toBe(200);
  expect((await api.send('GET', '/applications', { key: second.key })).status).toBe(403);
  expect(await metrics.getSingleMetricAsString('sluice_key_uses_waiting')).toMatch(/^sluice_key_uses_waiting 3$/m);
  expect(await api.db.selectFrom('key_uses').selectAll().execute()).toEqual([]);
  await closing.disposeAsync();
  const hours = [...new Set([hourOf(from), hourOf(Date.now())])];

  await using stack = new AsyncDisposableStack();
  const { url } = await startTestService(
    { configSchema, start },
    { databaseUrl: database.current.url, secrets: database.current.secrets, stack },
  );
  const keysOf = async (application: string) => {
    const { path, key: own } = manage(`/applications/${application}/keys`);
    const response = await fetch(url + path, { headers: { 'SVC-API-KEY': own } });
    return (await response.json()) as { last_used_at?: string }[];
  };
  const [both, none] = [await keysOf(id), await keysOf(neverUsed)];
  for (const { last_used_at } of both) expect(hours).toContain(last_used_at);
  expect(both).toHaveLength(2);
  expect(none[0]).not.toHaveProperty('last_used_at');
});

test('a session counts for neither key; to make and to authorize one does', async () => {
  const closing = new AsyncDisposableStack();
  const api = await startManagement(closing);
  const { session_key: key, maker, authorizer } = await api.session();
  await closing.disposeAsync();
  const forget = () => api.db.deleteFrom('key_uses').execute();
  const used = async () =>
    (
      await api.db
        .selectFrom('key_uses')
        .select('application_id')
        .where('tenant_id', '=', api.tenant.tenant_id)
        .execute()
    )
      .map(({ application_id }) => application_id)
      .sort();
  expect(await used()).toEqual([maker.id, authorizer.id, api.tenant.application_id].sort());
  await forget();

  const again = new AsyncDisposableStack();
  const { url } = await startTestService(
    { configSchema, start },
    { databaseUrl: database.current.url, secrets: database.current.secrets, stack: again },
  );
  expect((await fetch(`${url}/permissions`, { headers: { 'SVC-API-KEY': key } })).status).toBe(200);
  await again.disposeAsync();
  expect(await used()).toEqual([]);
});

test('a flood of unknown keys writes nothing', async () => {
  const closing = new AsyncDisposableStack();
  const { db, send, metrics } = await startManagement(closing);
  const before = await db
    .selectFrom('key_uses')
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirst();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => send('GET', '/permissions', { key: `k${at}` })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(await metrics.getSingleMetricAsString('sluice_key_uses_waiting')).toMatch(/^sluice_key_uses_waiting 0$/m);
  await closing.disposeAsync();
  const after = await db
    .selectFrom('key_uses')
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirst();
  expect(after).toEqual(before);
});
