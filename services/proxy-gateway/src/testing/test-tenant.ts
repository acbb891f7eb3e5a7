import { randomUUID } from 'node:crypto';
import type { AccessRule, ApplicationType } from '@sluice/access';
import { createPepper, generateApiKey, generateProxyKey, hashKey } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { insertTestSession, type TestSecrets } from '@sluice/testing';
import { createToken, encryptSecret, type Json, type Vault } from '@sluice/vault';

interface TestApplication {
  id: string;
  key: string;
}

export interface TestProxy {
  id: string;
  key: string;
}

export interface ProxyParts {
  destination: string;
  requireAuth?: boolean;
  requestTransform?: string;
  responseTransform?: string;
  applicationId?: string;
  configuration?: Record<string, string>;
}

/** Its rows are written directly into the database, as the control plane would write them. */
export interface TestTenant {
  id: string;
  application(parts?: {
    type?: ApplicationType;
    permissions?: string[];
    rules?: AccessRule[];
    expiresAt?: Date;
  }): Promise<TestApplication>;
  proxy(parts: ProxyParts): Promise<TestProxy>;
  session(
    authorizerId: string,
    parts?: { permissions?: string[]; rules?: AccessRule[]; proxies?: string[] },
  ): Promise<TestApplication>;
  token(input: Json): Promise<string>;
}

export async function createTestTenant({
  db,
  vault,
  secrets,
}: {
  db: Database;
  vault: Vault;
  secrets: TestSecrets;
}): Promise<TestTenant> {
  const id = randomUUID();
  const pepper = createPepper(secrets.KEY_PEPPER);
  await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
  const owner = { id: randomUUID(), tenantId: id, traceId: 'test', permissions: ['token:create'], rules: [] };
  return {
    id,
    async application({ type = 'private', permissions = ['token:use'], rules = [], expiresAt } = {}) {
      const application = { id: randomUUID(), key: generateApiKey('test', type) };
      const row = {
        tenant_id: id,
        id: application.id,
        name: 'A',
        type,
        permissions,
        rules: JSON.stringify(rules),
        key_hash: hashKey(pepper, application.key),
        expires_at: expiresAt?.toISOString() ?? null,
      };
      await db.insertInto('applications').values(row).execute();
      return application;
    },
    async session(authorizerId, { permissions = ['token:use'], rules = [], proxies } = {}) {
      const key = generateApiKey('test', 'session');
      const grants = { permissions, rules, proxies };
      const keyHash = hashKey(pepper, key);
      return { id: await insertTestSession(db, { tenantId: id, keyHash, authorizerId, ...grants }), key };
    },
    async proxy(parts) {
      const proxy = { id: randomUUID(), key: generateProxyKey() };
      const place = { tenantId: id, purpose: 'proxy_secrets', recordId: proxy.id } as const;
      const configuration = parts.configuration && JSON.stringify(parts.configuration);
      const row = {
        tenant_id: id,
        id: proxy.id,
        name: 'P',
        key_hash: hashKey(pepper, proxy.key),
        key_ciphertext: await encryptSecret(vault, { ...place, field: 'key' }, proxy.key),
        destination_url: parts.destination,
        request_transform: parts.requestTransform ?? null,
        response_transform: parts.responseTransform ?? null,
        application_id: parts.applicationId ?? null,
        configuration_ciphertext: configuration
          ? await encryptSecret(vault, { ...place, field: 'configuration' }, configuration)
          : null,
        require_auth: parts.requireAuth ?? true,
      };
      await db.insertInto('proxies').values(row).execute();
      return proxy;
    },
    async token(input) {
      const { token } = await createToken(vault, owner, input);
      return token.id;
    },
  };
}
