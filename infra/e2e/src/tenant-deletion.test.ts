import { useStack } from '@sluice/testing';
import pg from 'pg';
import { startPlatform } from './platform.ts';

jest.setTimeout(60_000);

const platform = useStack((closing) => startPlatform(closing));

test('a deleted Tenant: every key is refused at once, its data keys are gone, its rows are purged, its audit rows stay', async () => {
  const { stack, call, manage, createApplication } = platform.current;
  const application = await createApplication({ permissions: ['token:create', 'token:read'] });
  const token = await call('POST', '/tokens', { key: application.key, body: { data: 'secret' } });
  expect(token.status).toBe(201);
  expect((await manage('DELETE', '/tenants/self')).status).toBe(204);
  expect((await manage('GET', '/tenants/self')).status).toBe(401);
  expect((await call('GET', `/tokens/${token.body.id}`, { key: application.key })).status).toBe(401);

  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const count = async (table: string) => Number((await client.query(`select count(*) from ${table}`)).rows[0].count);
    expect(await count('data_keys')).toBe(0);
    for (let i = 0; i < 100 && (await count('tenants')) > 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    for (const table of ['tenants', 'tokens', 'applications', 'proxies', 'counters'])
      expect(await count(table)).toBe(0);
    expect(await count('audit_log')).toBeGreaterThan(0);
  } finally {
    await client.end();
  }
});
