import { randomBytes, randomUUID } from 'node:crypto';
import { proxyVersionField, reactorConfiguration, runArguments, runConsole, runResult } from '@sluice/database';
import { openTestCoherence, openTestDatabase } from '@sluice/testing';
import { sql } from 'kysely';
import {
  type Actor,
  assembleVault,
  encryptSecret,
  type Json,
  type KeyWrapper,
  localKeyWrapper,
  type Rotation,
  type RotationEvent,
  tokenize,
  type Vault,
} from '../index.ts';

export const randomRootKey = (): string => randomBytes(32).toString('base64');

export const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2090, cvc: '123' };

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'];

export async function openProcesses(stack: AsyncDisposableStack) {
  const database = await openTestDatabase(stack);
  const { db } = database;
  const rootKey = randomRootKey();

  async function openProcess(keyWrapper: KeyWrapper = localKeyWrapper(rootKey)): Promise<Vault> {
    const { caches, changes } = await openTestCoherence(database, stack);
    return assembleVault({ db, caches, changes, keyWrapper, disclosures: { record: async () => {} } });
  }

  async function openRotation({ keyWrapper = localKeyWrapper(rootKey) as KeyWrapper } = {}) {
    const { dataKeys, changes } = await openProcess(keyWrapper);
    const events: RotationEvent[] = [];
    const stop = new AbortController();
    const rotation: Rotation = {
      ...{ db, countingDb: db, keyWrapper, dataKeys, changes, signal: stop.signal },
      report: (event) => void events.push(event),
    };
    return { rotation, events, stop };
  }

  async function createActor(): Promise<Actor> {
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
          union all select request_headers_ciphertext from proxies where tenant_id = ${tenantId}
          union all select configuration_ciphertext from reactors where tenant_id = ${tenantId}
          union all select definition_ciphertext from proxy_versions where tenant_id = ${tenantId}
          union all select unnest(array[arguments_ciphertext, result_ciphertext, console_ciphertext])
            from reactor_runs where tenant_id = ${tenantId}
        ) as all_ciphertexts where c is not null
      ) as versions group by version
    `.execute(db);
    return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
  }

  return { ...database, rootKey, openProcess, openRotation, createActor, versionsOf };
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
    request_headers_ciphertext: await encryptSecret(vault, { ...place, field: 'request_headers' }, 'headers'),
  };
  await vault.db.insertInto('proxies').values(row).execute();
  return id;
}

/** A run waits if it has no result, and has ended otherwise. */
export async function insertRun(vault: Vault, { tenantId, id: created_by }: Actor, hasEnded: boolean): Promise<string> {
  const id = randomUUID();
  const seal = (place: typeof runArguments | typeof runResult | typeof runConsole, text: string) =>
    encryptSecret(vault, { tenantId, recordId: id, ...place }, text);
  const asked = { reactor_id: randomUUID(), created_by, caller_type: 'application', trace_id: 'trace' } as const;
  const run = { tenant_id: tenantId, id, ...asked, retryable: false, timeout_ms: 60_000 };
  const ended = {
    state: 'done',
    ended_at: new Date().toISOString(),
    result_ciphertext: await seal(runResult, 'result'),
    console_ciphertext: await seal(runConsole, 'console'),
  } as const;
  await vault.db
    .insertInto('reactor_runs')
    .values({ ...run, ...(hasEnded ? ended : { arguments_ciphertext: await seal(runArguments, 'arguments') }) })
    .execute();
  return id;
}

export async function insertProxyVersion(vault: Vault, { tenantId }: Actor, proxyId: string, definition: string) {
  const id = randomUUID();
  const secret = { tenantId, purpose: 'proxy_secrets', recordId: id, field: proxyVersionField } as const;
  const row = { tenant_id: tenantId, id, proxy_id: proxyId, version: 1, at: new Date().toISOString() };
  const definition_ciphertext = await encryptSecret(vault, secret, definition);
  await vault.db
    .insertInto('proxy_versions')
    .values({ ...row, changed_members: [], definition_ciphertext })
    .execute();
  return id;
}

export async function insertReactor(vault: Vault, { tenantId }: Actor, configuration: string): Promise<string> {
  const id = randomUUID();
  const secret = { tenantId, recordId: id, ...reactorConfiguration };
  const row = { tenant_id: tenantId, id, name: 'R', code: 'code' };
  const configuration_ciphertext = await encryptSecret(vault, secret, configuration);
  await vault.db
    .insertInto('reactors')
    .values({ ...row, configuration_ciphertext })
    .execute();
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
