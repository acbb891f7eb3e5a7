import { randomBytes, randomUUID } from 'node:crypto';
import { createTestDatabase, openTestCoherence } from '@sluice/testing';
import { sql } from 'kysely';
import {
  type Actor,
  createLocalKeyWrapper,
  encryptSecret,
  type Json,
  type KeyWrapper,
  openVault,
  type Rotation,
  type RotationEvent,
  tokenize,
  type Vault,
} from '../index.ts';

export const newRootKey = (): string => randomBytes(32).toString('base64');

export const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2090, cvc: '123' };

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'];

export async function openProcesses(stack: AsyncDisposableStack) {
  const database = await createTestDatabase(stack);
  const { db } = database;
  const rootKey = newRootKey();

  async function openProcess(keyWrapper: KeyWrapper = createLocalKeyWrapper(rootKey)): Promise<Vault> {
    const { caches, changes } = await openTestCoherence(database, stack);
    return openVault({ db, caches, changes, keyWrapper, disclosures: { record: async () => {} } });
  }

  async function openRotation({ keyWrapper = createLocalKeyWrapper(rootKey) as KeyWrapper } = {}) {
    const { dataKeys, changes } = await openProcess(keyWrapper);
    const events: RotationEvent[] = [];
    const stop = new AbortController();
    const rotation: Rotation = {
      ...{ db, countingDb: db, keyWrapper, dataKeys, changes, signal: stop.signal },
      report: (event) => void events.push(event),
    };
    return { rotation, events, stop };
  }

  async function newActor(): Promise<Actor> {
    const tenantId = randomUUID();
    await db.insertInto('tenants').values({ id: tenantId, owner_id: randomUUID(), name: 'T' }).execute();
    const rules = [{ priority: 1, container: '/', transform: 'reveal' as const, permissions }];
    return { id: randomUUID(), tenantId, traceId: 'trace', permissions: [], rules };
  }

  async function versionsOf({ tenantId }: Actor): Promise<Record<string, number>> {
    const { rows } = await sql<{ version: number; count: number }>`
      select version, count(*) as count from (
        select get_byte(c, 1) * 16777216 + get_byte(c, 2) * 65536 + get_byte(c, 3) * 256 + get_byte(c, 4) as version from (
          select data_ciphertext as c from tokens where tenant_id = ${tenantId}
          union all select cvc_ciphertext from tokens where tenant_id = ${tenantId} and cvc_ciphertext is not null
          union all select key_ciphertext from proxies where tenant_id = ${tenantId}
          union all select configuration_ciphertext from proxies
            where tenant_id = ${tenantId} and configuration_ciphertext is not null
        ) as all_ciphertexts
      ) as versions group by version
    `.execute(db);
    return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
  }

  return { ...database, rootKey, openProcess, openRotation, newActor, versionsOf };
}

export async function insertProxy(
  vault: Vault,
  { tenantId }: Actor,
  { key, configuration }: { key: string; configuration: string | null },
): Promise<string> {
  const id = randomUUID();
  const place = { tenantId, purpose: 'proxy_secrets', recordId: id } as const;
  const row = {
    ...{ tenant_id: tenantId, id, name: 'P', key_hash: randomBytes(32), destination_url: 'https://example.com' },
    key_ciphertext: await encryptSecret(vault, { ...place, field: 'key' }, key),
    configuration_ciphertext:
      configuration === null ? null : await encryptSecret(vault, { ...place, field: 'configuration' }, configuration),
  };
  await vault.db.insertInto('proxies').values(row).execute();
  return id;
}

export async function createMany(vault: Vault, actor: Actor, count: number): Promise<Map<string, Json>> {
  const values = new Map<string, Json>();
  for (let from = 0; from < count; from += 1000) {
    const texts = Array.from({ length: Math.min(1000, count - from) }, (_, i) => `value ${from + i} é`);
    const ids = (await tokenize(vault, actor, texts)) as string[];
    ids.forEach((id, i) => void values.set(id, texts[i] ?? null));
  }
  return values;
}
