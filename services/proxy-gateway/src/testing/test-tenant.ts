import { randomUUID } from 'node:crypto';
import type { AccessRule, ApplicationType } from '@sluice/access';
import { generateApiKey, generateProxyKey, hashKey, readPepper } from '@sluice/credentials';
import { type Database, type DeclaredMember, reactorConfiguration } from '@sluice/database';
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
  tokenPlaces?: string[];
  requestHeaders?: Record<string, string>;
  headTimeoutS?: number;
  pathName?: string;
  acceptKeyAs?: string[];
  allowedMethods?: string[];
  allowedPaths?: string[];
  responseGuard?: 'off' | 'tokenize' | 'redact' | 'block';
}

interface ReactorParts {
  code?: string;
  /** What a formula of its own has; without it the reactor has `code`. */
  formula?: { id?: string; code: string; parameters?: readonly DeclaredMember[] };
  applicationId?: string;
  configuration?: Record<string, string | number | boolean>;
  retryable?: boolean;
}

/** Its rows are written directly into the database, as the control plane would write them. */
export interface TestTenant {
  id: string;
  application(parts?: {
    type?: ApplicationType;
    permissions?: string[];
    rules?: AccessRule[];
    expiresAt?: Date;
    proxies?: string[];
  }): Promise<TestApplication>;
  proxy(parts: ProxyParts): Promise<TestProxy>;
  /** A member of a Proxy as its row has it. */
  secretOf(proxyId: string, field: string, members: object): Promise<Buffer>;
  reactor(parts: ReactorParts): Promise<{ id: string; formulaId: string | undefined }>;
  session(
    authorizerId: string,
    parts?: { permissions?: string[]; rules?: AccessRule[]; proxies?: string[]; reactors?: string[] },
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
  const pepper = readPepper(secrets.KEY_PEPPER);
  await db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
  const owner = { id: randomUUID(), tenantId: id, traceId: 'test', permissions: ['token:create'], rules: [] };
  const secretOf = (recordId: string, field: string, members: object) =>
    encryptSecret(vault, { tenantId: id, purpose: 'proxy_secrets', recordId, field }, JSON.stringify(members));
  return {
    id,
    secretOf,
    async application({ type = 'private', permissions = ['token:use'], rules = [], expiresAt, proxies } = {}) {
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
        proxies: proxies ?? null,
      };
      await db.insertInto('applications').values(row).execute();
      return application;
    },
    async session(authorizerId, { permissions = ['token:use'], rules = [], proxies, reactors } = {}) {
      const key = generateApiKey('test', 'session');
      const grants = { permissions, rules, proxies, reactors };
      const keyHash = hashKey(pepper, key);
      return { id: await insertTestSession(db, { tenantId: id, keyHash, authorizerId, ...grants }), key };
    },
    async proxy(parts) {
      const proxy = { id: randomUUID(), key: generateProxyKey() };
      const place = { tenantId: id, purpose: 'proxy_secrets', recordId: proxy.id } as const;
      const sealed = async (field: string, value: object | undefined) =>
        value ? await secretOf(proxy.id, field, value) : null;
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
        named_application_id: parts.applicationId ?? null,
        configuration_ciphertext: await sealed('configuration', parts.configuration),
        require_auth: parts.requireAuth ?? true,
        token_places: parts.tokenPlaces ?? null,
        request_headers_ciphertext: await sealed('request_headers', parts.requestHeaders),
        head_timeout_s: parts.headTimeoutS ?? null,
        path_name: parts.pathName ?? null,
        accept_key_as: parts.acceptKeyAs ?? null,
        allowed_methods: parts.allowedMethods ?? null,
        allowed_paths: parts.allowedPaths ?? null,
        response_guard: parts.responseGuard ?? null,
      };
      await db.insertInto('proxies').values(row).execute();
      return proxy;
    },
    async reactor({ code, formula, applicationId, configuration, retryable = false }) {
      const reactorId = randomUUID();
      const formulaId = formula && (formula.id ?? randomUUID());
      if (formula && formulaId && !formula.id) {
        const { code: formulaCode, parameters = [] } = formula;
        const row = { tenant_id: id, id: formulaId, name: 'F', code: formulaCode };
        await db
          .insertInto('reactor_formulas')
          .values({ ...row, request_parameters: JSON.stringify(parameters) })
          .execute();
      }
      const place = { tenantId: id, recordId: reactorId, ...reactorConfiguration } as const;
      const row = {
        tenant_id: id,
        id: reactorId,
        name: 'R',
        code: code ?? null,
        formula_id: formulaId ?? null,
        application_id: applicationId ?? null,
        configuration_ciphertext: configuration
          ? await encryptSecret(vault, place, JSON.stringify(configuration))
          : null,
        retryable,
      };
      await db.insertInto('reactors').values(row).execute();
      return { id: reactorId, formulaId };
    },
    async token(input) {
      const { token } = await createToken(vault, owner, input);
      return token.id;
    },
  };
}
