import { randomBytes, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { eventually, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));

const mebibyte = 1024 * 1024;
const megabyte = 'x'.repeat(1_000_000);

type Tenant = Awaited<ReturnType<typeof api.current.anotherTenant>>;

const rules = JSON.stringify([{ priority: 1, container: '/', transform: 'mask', description: megabyte }]);

/** Each fills the list with nine items of a million characters. */
const lists: Record<string, (tenant: Tenant) => Promise<void>> = {
  async applications({ tenant_id }) {
    for (let i = 0; i < 9; i++) {
      const who = { tenant_id, id: randomUUID(), name: 'A', type: 'private' } as const;
      const row = { ...who, permissions: [], rules, key_hash: randomBytes(32) };
      await api.current.db.insertInto('applications').values(row).execute();
    }
  },
  async sessions({ tenant_id, application_id }) {
    const expires_at = new Date(Date.now() + 3600_000).toISOString();
    for (let i = 0; i < 9; i++) {
      const hashes = { key_hash: randomBytes(32), nonce_hash: randomBytes(32) };
      const made = { application_id, made_from: '192.0.2.1', network: '192.0.2.0/24' };
      const row = { tenant_id, id: randomUUID(), ...hashes, ...made, rules, expires_at };
      await api.current.db.insertInto('sessions').values(row).execute();
    }
  },
  async proxies({ tenant_id, management_key: key }) {
    for (let i = 0; i < 9; i++) {
      const { id } = await api.current.proxy({}, { key });
      await api.current.db
        .updateTable('proxies')
        .set({ request_transform: megabyte })
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        .execute();
    }
  },
  async logs({ tenant_id }) {
    for (let i = 0; i < 9; i++) {
      await sql`
        insert into audit_log (id, tenant_id, at, actor_type, operation, entity_type, entity_id, message, detail)
        values (${randomUUID()}, ${tenant_id}, clock_timestamp(), 'system', 'create', 'token', 'bulk', 'Token created',
          ${JSON.stringify({ note: megabyte })}::jsonb)
      `.execute(api.current.db);
    }
  },
};

const heldBytes = async (): Promise<number> => {
  const text = await api.current.metrics.metrics();
  return Number(/^sluice_body_held_bytes (\d+)/m.exec(text)?.[1]);
};

function openSlowReader(path: string, key: string): Socket {
  const { hostname, port } = new URL(api.current.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${key}\r\n\r\n`);
  return socket;
}

describe.each(Object.keys(lists))('GET /%s', (name) => {
  let key = '';
  const list = (query: string) => api.current.send('GET', `/${name}${query}`, { key });

  beforeAll(async () => {
    const tenant = await api.current.anotherTenant('T');
    key = tenant.management_key;
    await lists[name]?.(tenant);
  });

  test('a page of more than 8 MiB is 413, which says what to do, and is counted', async () => {
    const { status, body } = await list('');
    expect([status, body.detail]).toEqual([413, expect.stringMatching(/more than 8 MiB.*smaller `size`/)]);
    expect(await api.current.metrics.metrics()).toMatch(/^sluice_limit_refusals_total\{limit="page_size"\} [1-9]/m);
  });

  test('a page of less comes whole', async () => {
    const { status, body } = await list('?size=8');
    expect([status, body.data.length]).toEqual([200, 8]);
    expect(JSON.stringify(body.data).length).toBeGreaterThan(8 * megabyte.length);
  });

  test('its memory is reserved until it is sent', async () => {
    const reader = openSlowReader(`/${name}?size=8`, key);
    await eventually('reserved', async () => (await heldBytes()) >= 8 * megabyte.length);
    reader.destroy();
    await eventually('free', async () => (await heldBytes()) === 0);
  });
});

slow('1 s')('a page of one item is never refused', async () => {
  const { tenant_id, management_key: key } = await api.current.anotherTenant('T');
  const { id } = await api.current.proxy({}, { key });
  await api.current.db
    .updateTable('proxies')
    .set({ request_transform: 'x'.repeat(9 * mebibyte) })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .execute();
  expect((await api.current.send('GET', '/proxies', { key })).status).toBe(413);
  const { status, body } = await api.current.send('GET', '/proxies?size=1', { key });
  expect([status, body.data.length]).toEqual([200, 1]);
});
