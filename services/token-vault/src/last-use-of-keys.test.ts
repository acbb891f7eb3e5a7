import { call, useStack } from '@sluice/testing';
import { everything, startTestTokenVault } from './testing/test-token-vault.ts';

const vault = useStack((stack) => startTestTokenVault(stack));

test('a stop writes the hour in which each key was used; sessions and people in the console count for none', async () => {
  const { db, startAnother, createApplication, createSession, createMember } = vault.current;
  const [used, refused, unused] = [
    await createApplication({ permissions: everything }),
    await createApplication({ permissions: [] }),
    await createApplication({ permissions: everything }),
  ];
  const session = await createSession(unused);
  const member = await createMember(unused.tenantId, 'OWNER');
  const closing = new AsyncDisposableStack();
  const { url } = await startAnother(closing);
  const before = Date.now();
  const list = async (key: string) => (await call(url, 'GET', '/tokens', { key })).status;
  expect([await list(used.key), await list(used.key), await list(refused.key), await list(session.key)]).toEqual([
    200, 200, 403, 200,
  ]);
  expect((await member.send('GET', '/api/tokens')).status).toBe(200);
  expect(await db.selectFrom('key_uses').selectAll().execute()).toEqual([]);
  await closing.disposeAsync();
  const rows = await db.selectFrom('key_uses').select(['tenant_id', 'application_id', 'last_used_at']).execute();
  expect(rows.map(({ application_id }) => application_id).sort()).toEqual([used.id, refused.id].sort());
  for (const { tenant_id, application_id, last_used_at } of rows) {
    expect(tenant_id).toBe(application_id === used.id ? used.tenantId : refused.tenantId);
    expect(Date.parse(last_used_at) % 3_600_000).toBe(0);
    expect(Date.parse(last_used_at)).toBeGreaterThan(before - 3_600_000);
    expect(Date.parse(last_used_at)).toBeLessThanOrEqual(Date.now());
  }
});
