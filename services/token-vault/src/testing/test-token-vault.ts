import { randomUUID } from 'node:crypto';
import type { AccessRule, ApplicationType } from '@sluice/access';
import { createPepper, generateApiKey, hashKey } from '@sluice/credentials';
import {
  type CallOptions,
  call,
  createTestDatabase,
  createTestSecrets,
  insertTestSession,
  startTestService,
} from '@sluice/testing';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';

interface NewApplication {
  tenantId?: string;
  type?: ApplicationType;
  permissions?: string[];
  rules?: AccessRule[];
}

export const everything = [
  ...['token:create', 'token:read', 'token:search', 'token:update', 'token:delete', 'token:use'],
];

export const reveal: AccessRule = { priority: 1, container: '/', transform: 'reveal', permissions: everything };

/** @param through rewrites the database URL, for a proxy between the service and its database. */
export async function startTestTokenVault(
  stack: AsyncDisposableStack,
  through: (databaseUrl: string) => string | Promise<string> = (direct) => direct,
  settings: Record<string, string> = {},
) {
  const secrets = createTestSecrets();
  const lines: string[] = [];
  const { db, url: directUrl } = await createTestDatabase(stack);
  const databaseUrl = await through(directUrl);
  const onLogLine = (line: string) => void lines.push(line);
  const startAnother = () =>
    startTestService({ configSchema, start }, { databaseUrl, secrets, stack, settings, onLogLine });
  const { url, metrics } = await startAnother();

  async function createTenant(): Promise<string> {
    const id = randomUUID();
    await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
    return id;
  }

  async function createKey(application: NewApplication) {
    return (await createApplication(application)).key;
  }

  async function createApplication({ tenantId, type = 'private', permissions = [], rules = [] }: NewApplication) {
    const key = generateApiKey('test', type);
    const row = { id: randomUUID(), tenant_id: tenantId ?? (await createTenant()), name: 'A', type, permissions };
    const key_hash = hashKey(createPepper(secrets.KEY_PEPPER), key);
    await db
      .insertInto('applications')
      .values({ ...row, rules: JSON.stringify(rules), key_hash })
      .execute();
    return { id: row.id, tenantId: row.tenant_id, key };
  }

  async function createSession(
    { id: authorizerId, tenantId }: { id: string; tenantId: string },
    { permissions = [], rules = [reveal] }: Pick<NewApplication, 'permissions' | 'rules'> = {},
  ) {
    const key = generateApiKey('test', 'session');
    const keyHash = hashKey(createPepper(secrets.KEY_PEPPER), key);
    return { id: await insertTestSession(db, { tenantId, authorizerId, keyHash, permissions, rules }), key };
  }

  const send = (method: string, path: string, options?: CallOptions) => call(url, method, path, options);
  return { db, url, metrics, lines, startAnother, createTenant, createKey, createApplication, createSession, send };
}
