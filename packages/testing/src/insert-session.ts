import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';

interface TestSession {
  tenantId: string;
  keyHash: Buffer;
  /** A private Application; its first key authorizes the session. */
  authorizerId: string;
  permissions?: readonly string[];
  rules?: readonly object[];
  proxies?: readonly string[] | undefined;
  reactors?: readonly string[] | undefined;
  /** Of the Application that made it. */
  allowedOrigins?: readonly string[] | undefined;
}

/** Also inserts the public Application that made it. @returns the session's id. */
export async function insertTestSession(db: Database, session: TestSession): Promise<string> {
  const {
    tenantId: tenant_id,
    authorizerId,
    permissions = [],
    rules = [],
    proxies,
    reactors,
    allowedOrigins,
  } = session;
  const [id, makerId] = [randomUUID(), randomUUID()];
  const maker = { tenant_id, id: makerId, name: 'Maker', type: 'public' as const, permissions: ['token:create'] };
  const allowed_origins = allowedOrigins ? [...allowedOrigins] : null;
  await db
    .insertInto('applications')
    .values({ ...maker, allowed_origins, rules: '[]', key_hash: randomBytes(32) })
    .execute();
  const key = await db
    .selectFrom('application_keys')
    .select('id')
    .where('tenant_id', '=', tenant_id)
    .where('application_id', '=', authorizerId)
    .orderBy('version')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('sessions')
    .values({
      ...{ tenant_id, id, application_id: makerId, authorized_by: authorizerId, authorizing_key_id: key.id },
      ...{ key_hash: session.keyHash, nonce_hash: randomBytes(32), made_from: '192.0.2.1', network: '192.0.2.0/24' },
      permissions: [...permissions],
      rules: JSON.stringify(rules),
      proxies: proxies || reactors ? [...(proxies ?? [])] : null,
      reactors: reactors ? [...reactors] : null,
      expires_at: new Date(Date.now() + 180_000).toISOString(),
    })
    .execute();
  return id;
}
