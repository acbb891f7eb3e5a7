import { randomBytes, randomUUID } from 'node:crypto';
import { addToCounter, type Database } from '@sluice/database';

export function testRows(db: Database) {
  async function tenant(): Promise<string> {
    const id = randomUUID();
    await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
    return id;
  }

  async function application(tenant_id: string, expiresAt?: Date): Promise<string> {
    const id = randomUUID();
    const expires_at = expiresAt?.toISOString() ?? null;
    const row = { tenant_id, id, name: 'A', type: 'private' as const, permissions: ['token:read'], rules: '[]' };
    await db
      .insertInto('applications')
      .values({ ...row, expires_at, key_hash: randomBytes(32) })
      .execute();
    await addToCounter(db, tenant_id, 'applications', 1);
    return id;
  }

  async function proxy(tenant_id: string, application_id: string | null = null): Promise<string> {
    const id = randomUUID();
    const row = { tenant_id, id, application_id, name: 'P', destination_url: 'https://example.com' };
    await db
      .insertInto('proxies')
      .values({ ...row, key_hash: randomBytes(32), key_ciphertext: randomBytes(16) })
      .execute();
    await addToCounter(db, tenant_id, 'proxies', 1);
    return id;
  }

  async function tokens(tenant_id: string, count: number): Promise<void> {
    const row = { tenant_id, type: 'token', data_ciphertext: Buffer.from('x'), containers: ['/'], metadata: '{}' };
    const rows = Array.from({ length: count }, () => ({ ...row, id: randomUUID(), active_month: '2026-01-01' }));
    await db.insertInto('tokens').values(rows).execute();
  }

  async function dataKey(tenant_id: string): Promise<void> {
    const row = { tenant_id, purpose: 'token_data' as const, version: 1, root_key_id: 'r' };
    await db
      .insertInto('data_keys')
      .values({ ...row, wrapped_key: randomBytes(8) })
      .execute();
  }

  async function close(tenant_id: string): Promise<void> {
    await db.updateTable('tenants').set({ closed_at: new Date().toISOString() }).where('id', '=', tenant_id).execute();
  }

  async function count(tenant_id: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of ['tokens', 'proxies', 'applications', 'data_keys', 'counters', 'audit_log'] as const) {
      const rows = await db.selectFrom(table).select('tenant_id').where('tenant_id', '=', tenant_id).execute();
      counts[table] = rows.length;
    }
    const tenants = await db.selectFrom('tenants').select('id').where('id', '=', tenant_id).execute();
    return { ...counts, tenants: tenants.length };
  }

  return { tenant, application, proxy, tokens, dataKey, close, count };
}
