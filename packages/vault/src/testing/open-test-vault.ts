import { randomBytes, randomUUID } from 'node:crypto';
import type { AccessRule } from '@sluice/access';
import type { Disclosure } from '@sluice/audit';
import { openTestCoherence, openTestDatabase } from '@sluice/testing';
import { type Actor, assembleVault, localKeyWrapper } from '../index.ts';
import type { VaultOptions } from '../vault.ts';

const allPermissions = [...['token:create', 'token:read', 'token:search', 'token:update', 'token:delete', 'token:use']];

interface TestGrants {
  tenantId?: string;
  permissions?: string[];
  rules?: Partial<AccessRule>[];
}

export async function openTestVault(stack: AsyncDisposableStack, options: Partial<VaultOptions> = {}) {
  const database = await openTestDatabase(stack);
  const { db } = database;
  const { caches, changes } = await openTestCoherence(database, stack);
  const disclosures: Disclosure[] = [];
  const time = { now: new Date() };
  const vault = assembleVault({
    db,
    caches,
    changes,
    keyWrapper: localKeyWrapper(randomBytes(32).toString('base64')),
    disclosures: { record: async (disclosure: Disclosure) => void disclosures.push(disclosure) },
    clock: () => time.now,
    ...options,
  });

  /** By default in a new Tenant and with every permission in plaintext. */
  async function createActor({ tenantId, permissions, rules }: TestGrants = {}): Promise<Actor> {
    const revealing = permissions || rules ? [] : [{ transform: 'reveal' as const }];
    const full = (rules ?? revealing).map(
      (rule): AccessRule => ({ priority: 1, container: '/', transform: 'mask', permissions: allPermissions, ...rule }),
    );
    const grants = { permissions: permissions ?? [], rules: full };
    return { id: randomUUID(), tenantId: tenantId ?? (await createTenant()), traceId: 'trace', ...grants };
  }

  async function createTenant(settings: { fingerprint_tokens?: boolean; deduplicate_tokens?: boolean } = {}) {
    const id = randomUUID();
    await db
      .insertInto('tenants')
      .values({ id, owner_id: randomUUID(), name: 'T', ...settings })
      .execute();
    return id;
  }

  async function expire(actor: Actor, ids: readonly string[]): Promise<void> {
    await db
      .updateTable('tokens')
      .set({ expires_at: new Date(Date.now() - 1000).toISOString() })
      .where('tenant_id', '=', actor.tenantId)
      .where('id', 'in', ids)
      .execute();
  }

  async function auditOf(actor: Actor, operation: string) {
    return db
      .selectFrom('audit_log')
      .select(['entity_id', 'actor_id', 'trace_id', 'detail'])
      .where('tenant_id', '=', actor.tenantId)
      .where('operation', '=', operation)
      .orderBy('entity_id')
      .execute();
  }

  return { ...database, vault, time, disclosures, createActor, createTenant, expire, auditOf };
}
