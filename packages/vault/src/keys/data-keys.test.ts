import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type CoherentCaches, openCoherentCaches, tagOf } from '@sluice/cache-coherence';
import { serviceLogger } from '@sluice/service-runtime';
import { openTestCoherence, openTestDatabase, slow, useStack } from '@sluice/testing';
import { Registry } from 'prom-client';
import { decryptSecret, encryptSecret, IntegrityError, type Secret } from '../index.ts';
import { cachedDataKeys } from './data-keys.ts';
import type { WrappedIn } from './key-wrapper.ts';
import { localKeyWrapper } from './local-key-wrapper.ts';

const database = useStack(async (stack) => {
  const opened = await openTestDatabase(stack);
  const openCaches = async (): Promise<CoherentCaches> => (await openTestCoherence(opened, stack)).caches;
  return { ...opened, openCaches };
});

async function createSecret(): Promise<Secret> {
  const tenantId = randomUUID();
  await database.current.db.insertInto('tenants').values({ id: tenantId, owner_id: randomUUID(), name: 'T' }).execute();
  return { tenantId, purpose: 'proxy_secrets', recordId: randomUUID(), field: 'key' };
}

function countingWrapper() {
  const wrapper = localKeyWrapper(randomBytes(32).toString('base64'));
  const counts = { unwrapped: 0 };
  return {
    counts,
    keyWrapper: {
      ...wrapper,
      unwrap: (wrapped: Buffer, by: WrappedIn) => {
        counts.unwrapped++;
        return wrapper.unwrap(wrapped, by);
      },
    },
  };
}

function keysOf({ tenantId }: Secret) {
  return database.current.db
    .selectFrom('data_keys')
    .select(['purpose', 'version', 'use_count'])
    .where('tenant_id', '=', tenantId)
    .orderBy('purpose')
    .orderBy('version')
    .execute();
}

describe('data keys', () => {
  test('a secret opens in its place, also for another process', async () => {
    const { db, openCaches } = database.current;
    const { keyWrapper } = countingWrapper();
    const secret = await createSecret();
    const ciphertext = await encryptSecret(
      { dataKeys: cachedDataKeys({ db, keyWrapper, caches: await openCaches() }) },
      secret,
      'value',
    );
    const other = { dataKeys: cachedDataKeys({ db, keyWrapper, caches: await openCaches() }) };
    expect((await decryptSecret(other, secret, ciphertext)).toString()).toBe('value');
    for (const place of [{ recordId: randomUUID() }, { field: 'other' }, { purpose: 'token_data' as const }]) {
      await expect(decryptSecret(other, { ...secret, ...place }, ciphertext)).rejects.toThrow(IntegrityError);
    }
  });

  test('are made once, however many ask, and unwrapped once', async () => {
    const { db, openCaches } = database.current;
    const { keyWrapper, counts } = countingWrapper();
    const secret = await createSecret();
    const processes = [await openCaches(), await openCaches()].map((caches) => ({
      dataKeys: cachedDataKeys({ db, keyWrapper, caches }),
    }));
    const all = processes.flatMap((holder) => Array.from({ length: 10 }, () => encryptSecret(holder, secret, 'x')));
    await Promise.all(all);
    expect(await keysOf(secret)).toEqual([{ purpose: 'proxy_secrets', version: 1, use_count: 2048 }]);
    expect(counts.unwrapped).toBe(2);
  });

  slow('5.1 s')(
    'have one version, when fifty processes need a Tenant’s first key at once over a few connections',
    async () => {
      const { db } = database.current;
      await using stack = new AsyncDisposableStack();
      const { keyWrapper } = countingWrapper();
      const log = serviceLogger({ service: 'test', level: 'silent' }, { write: () => {} });
      const processes = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const caches = await openCoherentCaches({
            databaseUrl: 'postgres://127.0.0.1:1/nowhere', // without a lease nothing is cached
            bus: { publish: () => undefined, subscribe: () => undefined },
            service: 'test',
            log,
            metrics: new Registry(),
            stack,
          });
          return cachedDataKeys({ db, keyWrapper, caches, reservationSize: 1 });
        }),
      );
      for (let round = 0; round < 10; round++) {
        const secret = await createSecret();
        const keys = await Promise.all(processes.map((process) => process.reserve(secret, 1)));
        expect(new Set(keys.map(({ version }) => version))).toEqual(new Set([1]));
        expect(await keysOf(secret)).toEqual([{ purpose: 'proxy_secrets', version: 1, use_count: 50 }]);
      }
    },
  );

  test('are forgotten when a change names them, and unwrapped again', async () => {
    const { db } = database.current;
    const { keyWrapper, counts } = countingWrapper();
    const caches = await database.current.openCaches();
    const holder = { dataKeys: cachedDataKeys({ db, keyWrapper, caches }) };
    const secret = await createSecret();
    const ciphertext = await encryptSecret(holder, secret, 'x');
    await decryptSecret(holder, secret, ciphertext);
    expect(counts.unwrapped).toBe(1);
    caches.drop([tagOf.dataKeys(secret.tenantId, secret.purpose)]);
    await Promise.all([1, 2, 3].map(() => decryptSecret(holder, secret, ciphertext)));
    expect(counts.unwrapped).toBe(2);
  });

  test('uses are counted before they happen, and a full key gets a successor', async () => {
    const { db } = database.current;
    const { keyWrapper } = countingWrapper();
    const secret = await createSecret();
    const caches = await database.current.openCaches();
    const holder = { dataKeys: cachedDataKeys({ db, keyWrapper, caches, reservationSize: 4, maximumUses: 8 }) };
    const ciphertexts: Buffer[] = [];
    for (let i = 0; i < 10; i++) {
      ciphertexts.push(await encryptSecret(holder, secret, `value ${i}`));
      const counted = (await keysOf(secret)).reduce((sum, key) => sum + key.use_count, 0);
      expect(counted).toBeGreaterThan(i);
    }
    expect(await keysOf(secret)).toMatchObject([
      { version: 1, use_count: 8 },
      { version: 2, use_count: 4 },
    ]);
    const opened = await Promise.all(ciphertexts.map((ciphertext) => decryptSecret(holder, secret, ciphertext)));
    expect(opened.map(String)).toEqual(ciphertexts.map((_, i) => `value ${i}`));
  });

  test('a large batch is counted as what it is', async () => {
    const { db } = database.current;
    const { keyWrapper } = countingWrapper();
    const secret = await createSecret();
    const caches = await database.current.openCaches();
    const dataKeys = cachedDataKeys({ db, keyWrapper, caches, reservationSize: 4 });
    expect((await dataKeys.reserve(secret, 1000)).version).toBe(1);
    expect(await keysOf(secret)).toMatchObject([{ use_count: 1000 }]);
  });

  test('another root key cannot unwrap, and says which it needs', async () => {
    const { db, openCaches } = database.current;
    const [one, two] = [countingWrapper().keyWrapper, countingWrapper().keyWrapper];
    const secret = await createSecret();
    const ciphertext = await encryptSecret(
      { dataKeys: cachedDataKeys({ db, keyWrapper: one, caches: await openCaches() }) },
      secret,
      'x',
    );
    const wrong = { dataKeys: cachedDataKeys({ db, keyWrapper: two, caches: await openCaches() }) };
    await expect(decryptSecret(wrong, secret, ciphertext)).rejects.toThrow(
      `it was wrapped by ${await one.currentKeyId()}`,
    );
  });

  test('no key is made for a Tenant that is being closed', async () => {
    const { db, openCaches } = database.current;
    const { keyWrapper } = countingWrapper();
    const secret = await createSecret();
    const holder = { dataKeys: cachedDataKeys({ db, keyWrapper, caches: await openCaches() }) };
    let encrypting: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      const closed_at = new Date().toISOString();
      await tx.updateTable('tenants').set({ closed_at }).where('id', '=', secret.tenantId).execute();
      encrypting = encryptSecret(holder, secret, 'x').catch((error: unknown) => error);
      await delay(100);
    });
    expect(await encrypting).toMatchObject({ code: 'unauthenticated' });
    expect(await keysOf(secret)).toEqual([]);
  });
});
