import { eventually, useStack } from '@sluice/testing';
import { startPlatform } from './platform.ts';

jest.setTimeout(60_000);

const platform = useStack((closing) => startPlatform(closing));

test('a deleted Tenant: every key is refused at once, its data keys are gone, its rows are purged, its audit rows stay', async () => {
  const { query, call, manage, createApplication } = platform.current;
  const application = await createApplication({ permissions: ['token:create', 'token:read'] });
  const token = await call('POST', '/tokens', { key: application.key, body: { data: 'secret' } });
  expect(token.status).toBe(201);
  expect((await manage('DELETE', '/tenants/self')).status).toBe(204);
  expect((await manage('GET', '/tenants/self')).status).toBe(401);
  expect((await call('GET', `/tokens/${token.body.id}`, { key: application.key })).status).toBe(401);

  const count = async (table: string) => (await query(`select tenant_id from ${table}`)).length;
  expect(await count('data_keys')).toBe(0);
  await eventually('the Tenant is purged', async () => (await query('select id from tenants')).length === 0);
  for (const table of ['tokens', 'applications', 'proxies', 'counters']) expect(await count(table)).toBe(0);
  expect(await count('audit_log')).toBeGreaterThan(0);
});
