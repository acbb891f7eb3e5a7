import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { Reply, Unkept } from '../operation.ts';
import { idempotencyStore } from './idempotency.ts';
import type { IdempotentRequest } from './idempotency-store.ts';

const open = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  const key = createSecretKey(randomBytes(32));
  const dataKeys = {
    find: async () => key,
    reserve: async () => ({ version: 1, key }),
    forHashing: async () => key,
  };
  const onError = (error: unknown) => {
    throw error;
  };
  return { db, store: idempotencyStore({ db, vault: { dataKeys }, pepper: key, onError }) };
});

/** Of an operation that creates nothing: its key is claimed before. */
async function createRequest(hold: IdempotentRequest['hold']): Promise<IdempotentRequest> {
  const tenantId = randomUUID();
  await open.current.db.insertInto('tenants').values({ id: tenantId, owner_id: randomUUID(), name: 'T' }).execute();
  const caller = { id: randomUUID(), tenantId, type: 'private', permissions: [], rules: [] } as const;
  const toKeep = (reply: Reply) => reply;
  const onReplay = async (reply: Reply) => reply;
  return { caller, method: 'post', path: '/tokens', key: 'one', body: {}, creates: false, hold, toKeep, onReplay };
}

const large = Array(100_000).fill({});

test('what a kept answer takes is reserved before it is read', async () => {
  const { store } = open.current;
  let held = 0;
  const request = await createRequest((bytes) => {
    held += bytes;
    return undefined;
  });
  await store.run(request, async () => new Reply(201, large));
  expect(held).toBe(0);
  const replayed = await store.run(request, () => Promise.reject(new Error('acted twice')));
  expect(replayed.body).toEqual(large);
  expect(held).toBeGreaterThan(100_000 * 50);
});

test('without room it is not answered; another body is refused before anything is reserved', async () => {
  const { store } = open.current;
  const request = await createRequest(() => Promise.reject(new Error('no room')));
  await store.run(request, async () => new Reply(201, large));
  const again = () => Promise.reject(new Error('acted twice'));
  await expect(store.run(request, again)).rejects.toThrow('no room');
  await expect(store.run({ ...request, body: { a: 1 } }, again)).rejects.toMatchObject({ code: 'conflict' });
});

test('an answer to a request that changed nothing is not kept, so that the key may be used for another body', async () => {
  const { store, db } = open.current;
  const request = await createRequest(() => undefined);
  const { tenantId } = request.caller;
  const records = () =>
    db.selectFrom('idempotency_records').select('body_hash').where('tenant_id', '=', tenantId).execute();
  expect((await store.run(request, async () => new Unkept(200, large))).body).toEqual(large);
  expect(await records()).toEqual([]);
  const other = { ...request, body: { a: 1 } };
  expect((await store.run(other, async () => new Reply(200, 'kept'))).body).toBe('kept');
  expect(await records()).toHaveLength(1); // control
});
