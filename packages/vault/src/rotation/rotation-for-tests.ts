import { randomBytes, randomUUID } from 'node:crypto';
import { createTestDatabase, openTestCoherence } from '@sluice/testing';
import {
  type Actor,
  createLocalKeyWrapper,
  encryptSecret,
  type KeyWrapper,
  openVault,
  type Rotation,
  type RotationEvent,
  type Vault,
} from '../index.ts';

export const newRootKey = (): string => randomBytes(32).toString('base64');

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'];

/** A database, and any number of processes on it, each with caches of its own. */
export async function openProcesses(stack: AsyncDisposableStack) {
  const database = await createTestDatabase(stack);
  const { db } = database;
  const rootKey = newRootKey();

  async function openProcess(keyWrapper: KeyWrapper = createLocalKeyWrapper(rootKey)): Promise<Vault> {
    const { caches, changes } = await openTestCoherence(database, stack);
    return openVault({ db, caches, changes, keyWrapper, disclosures: { record: () => undefined } });
  }

  /** A rotation as the command makes one, in a process of its own; the events are what it reported. */
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

  return { ...database, rootKey, openProcess, openRotation, newActor };
}

/** A Proxy's row with both of its secrets. @returns its id. */
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
