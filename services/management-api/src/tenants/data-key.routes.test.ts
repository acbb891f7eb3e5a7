import { randomBytes } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { isoDate, shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const list = (key: string) => api.current.send('GET', '/tenants/self/data-keys', { key });

test('has each version of each purpose, the newest of each as current, and no key', async () => {
  const { db, anotherTenant, proxy } = api.current;
  const { tenant_id, management_key } = await anotherTenant('T');
  expect(await list(management_key)).toMatchObject({ status: 200, body: [] });
  await proxy({ configuration: { A: 'b' } }, { key: management_key });
  const wrapped = { wrapped_key: randomBytes(8), root_key_id: 'r' };
  const row = { tenant_id, ...wrapped, use_count: 0 };
  await db
    .insertInto('data_keys')
    .values([
      { ...row, purpose: 'proxy_secrets', version: 2, use_count: 7 },
      { ...row, purpose: 'fingerprint', version: 1 },
    ])
    .execute();
  const { body } = await list(management_key);
  expect(body).toEqual([
    { purpose: 'fingerprint', version: 1, state: 'current', created_at: isoDate, uses: 0 },
    { purpose: 'proxy_secrets', version: 2, state: 'current', created_at: isoDate, uses: 7 },
    { purpose: 'proxy_secrets', version: 1, state: 'previous', created_at: isoDate, uses: expect.any(Number) },
  ]);
  expect(body[2].uses).toBeGreaterThan(0);
});

test('needs tenant:read, and shows those of one Tenant', async () => {
  const { keyWith, proxy, stranger, tenant } = api.current;
  await proxy({}, { key: stranger.management_key });
  expect((await list(await keyWith('report:read'))).status).toBe(403);
  expect((await list(tenant.management_key)).body).toEqual([]);
});
