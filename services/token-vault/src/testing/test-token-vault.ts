import { randomUUID } from 'node:crypto';
import type { AccessRule, ApplicationType } from '@sluice/access';
import { generateApiKey, generateSecret, hashKey, readPepper } from '@sluice/credentials';
import {
  type CallOptions,
  call,
  callByHost,
  insertTestMember,
  insertTestSession,
  insertTestSignIn,
  openTestDatabase,
  randomSecrets,
  startTestService,
} from '@sluice/testing';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';

interface NewApplication {
  tenantId?: string;
  type?: ApplicationType;
  permissions?: string[];
  rules?: AccessRule[];
  allowedOrigins?: string[];
}

export const everything = [
  ...['token:create', 'token:read', 'token:search', 'token:update', 'token:delete', 'token:use'],
];

export const reveal: AccessRule = { priority: 1, container: '/', transform: 'reveal', permissions: everything };

const consoleHost = 'console.test';

/** @param through rewrites the database URL, for a proxy between the service and its database. */
export async function startTestTokenVault(
  stack: AsyncDisposableStack,
  through: (databaseUrl: string) => string | Promise<string> = (direct) => direct,
  settings: Record<string, string> = {},
) {
  const secrets = randomSecrets();
  const lines: string[] = [];
  const { db, url: directUrl } = await openTestDatabase(stack);
  const databaseUrl = await through(directUrl);
  const onLogLine = (line: string) => void lines.push(line);
  const startAnother = (own = stack) =>
    startTestService(
      { configSchema, start },
      { databaseUrl, secrets, stack: own, settings: { CONSOLE_HOST: consoleHost, ...settings }, onLogLine },
    );
  const { url, metrics, readiness } = await startAnother();

  async function createTenant(): Promise<string> {
    const id = randomUUID();
    await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
    return id;
  }

  async function createKey(application: NewApplication) {
    return (await createApplication(application)).key;
  }

  async function createApplication(given: NewApplication) {
    const { tenantId, type = 'private', permissions = [], rules = [], allowedOrigins: allowed_origins = null } = given;
    const key = generateApiKey('test', type);
    const tenant_id = tenantId ?? (await createTenant());
    const row = { id: randomUUID(), tenant_id, name: 'A', type, permissions, allowed_origins };
    const key_hash = hashKey(readPepper(secrets.KEY_PEPPER), key);
    await db
      .insertInto('applications')
      .values({ ...row, rules: JSON.stringify(rules), key_hash })
      .execute();
    return { id: row.id, tenantId: row.tenant_id, key };
  }

  async function createSession(
    { id: authorizerId, tenantId }: { id: string; tenantId: string },
    { permissions = [], rules = [reveal], allowedOrigins }: Omit<NewApplication, 'tenantId' | 'type'> = {},
  ) {
    const key = generateApiKey('test', 'session');
    const keyHash = hashKey(readPepper(secrets.KEY_PEPPER), key);
    const session = { tenantId, authorizerId, keyHash, permissions, rules, allowedOrigins };
    return { id: await insertTestSession(db, session), key };
  }

  const send = (method: string, path: string, options?: CallOptions) => call(url, method, path, options);

  type Role = Parameters<typeof insertTestMember>[1]['role'];

  /** A person with this role, who is signed in at the console's host. */
  async function createMember(tenantId: string, role: Role) {
    const secret = generateSecret();
    const { id, userId } = await insertTestMember(db, { tenantId, role });
    const secretHash = hashKey(readPepper(secrets.KEY_PEPPER), secret);
    const signInId = await insertTestSignIn(db, { tenantId, userId, secretHash });
    const own = { Host: consoleHost, 'Sec-Fetch-Site': 'same-origin', Cookie: `__Host-sluice=${secret}` };
    const send = (method: string, path: string, { headers, ...options }: CallOptions = {}) =>
      callByHost(url, method, path, { ...options, headers: { ...own, 'SVC-CONSOLE': '1', ...headers } });
    return { id, userId, signInId, send };
  }
  return {
    db,
    databaseUrl,
    url,
    metrics,
    readiness,
    lines,
    startAnother,
    createTenant,
    createKey,
    createApplication,
    createSession,
    createMember,
    send,
  };
}
