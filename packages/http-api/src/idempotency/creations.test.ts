import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { openTestDatabase, useStack } from '@sluice/testing';
import { Reply } from '../operation.ts';
import { idempotencyStore } from './idempotency.ts';
import type { IdempotentRequest, KeepReply } from './idempotency-store.ts';

/** Two processes that share a database and keys. */
const open = useStack(async (stack) => {
  const { db } = await openTestDatabase(stack);
  const key = createSecretKey(randomBytes(32));
  const dataKeys = { find: async () => key, reserve: async () => ({ version: 1, key }), forHashing: async () => key };
  const onError = (error: unknown) => {
    throw error;
  };
  const store = () => idempotencyStore({ db, vault: { dataKeys }, pepper: key, onError });
  return { db, one: store(), other: store() };
});

function randomRequest(key = randomUUID()): IdempotentRequest {
  const tenantId = randomUUID();
  const caller = { id: randomUUID(), tenantId, type: 'private', permissions: [], rules: [] } as const;
  const toKeep = (reply: Reply) => reply;
  const onReplay = async (reply: Reply) => reply;
  const hold = () => undefined;
  return { caller, method: 'post', path: '/tokens', key, body: {}, creates: true, hold, toKeep, onReplay };
}

interface Steps {
  before?: () => Promise<unknown>;
  after?: () => Promise<unknown>;
}

/** Creates a Tenant of this name, and keeps the answer in the same transaction. */
function creating(name: string, { before, after }: Steps = {}) {
  return (keep?: KeepReply) =>
    open.current.db.transaction().execute(async (tx: Queryable) => {
      await tx.insertInto('tenants').values({ id: randomUUID(), owner_id: randomUUID(), name }).execute();
      await before?.();
      const reply = new Reply(201, { name });
      await keep?.(tx, reply);
      await after?.();
      return reply;
    });
}

async function created(...names: string[]): Promise<string[]> {
  const rows = await open.current.db.selectFrom('tenants').select('name').where('name', 'in', names).execute();
  return rows.map(({ name }) => name);
}

const randomName = () => randomUUID();

test('where two processes create under one key, one is rolled back and answers as the other', async () => {
  const { one, other } = open.current;
  const [slow, fast, control] = [randomName(), randomName(), randomName()];
  const request = randomRequest();
  const replies: (Reply | undefined)[] = [];
  const whole = creating(slow, {
    before: async () => {
      replies.push(await other.run(request, creating(fast)));
      await other.run({ ...request, key: 'another' }, creating(control));
    },
  });
  replies.push(await one.run(request, whole));
  expect(replies.map((reply) => reply?.body)).toEqual([{ name: fast }, { name: fast }]);
  expect((await created(slow, fast, control)).sort()).toEqual([fast, control].sort());
});

test('of keys that are looked up at the same moment, each is found as its own', async () => {
  const { one, other } = open.current;
  const request = randomRequest();
  const keys = Array.from({ length: 10 }, () => randomUUID());
  const kept = new Map(keys.slice(0, 5).map((key) => [key, randomName()]));
  await Promise.all([...kept].map(([key, name]) => one.run({ ...request, key }, creating(name))));
  const names = new Map(keys.map((key) => [key, randomName()]));
  const run = async (by: IdempotentRequest) =>
    Promise.all([...names].map(async ([key, name]) => (await other.run({ ...by, key }, creating(name))).body));
  expect(await run(request)).toEqual([...names].map(([key, name]) => ({ name: kept.get(key) ?? name })));
  const neighbour = { ...request, caller: { ...request.caller, id: randomUUID() } };
  expect(await run(neighbour)).toEqual([...names.values()].map((name) => ({ name })));
});

test('whose id another process has taken under its key answers as that one; under another key it is refused', async () => {
  const { one, other } = open.current;
  const name = randomName();
  const request = randomRequest();
  const overtaken = (by: IdempotentRequest) => async () => {
    await other.run(by, creating(name));
    throw new ServiceError('conflict', 'A token with this id exists already');
  };
  expect((await one.run(request, overtaken(request))).body).toEqual({ name });
  const control = randomRequest();
  await expect(one.run(control, overtaken({ ...control, key: 'another' }))).rejects.toThrow('exists already');
});

test('while another process is about to commit its creation, the key is in use, and nobody waits', async () => {
  const { one, other } = open.current;
  const [first, second] = [randomName(), randomName()];
  const request = randomRequest();
  let refused: unknown;
  const first201 = await one.run(
    request,
    creating(first, {
      after: async () => {
        refused = await other.run(request, creating(second)).catch((error: unknown) => error);
      },
    }),
  );
  expect(refused).toMatchObject({ code: 'conflict', retryAfterSeconds: 1 });
  expect((await other.run(request, creating(second))).body).toEqual(first201.body);
  expect(await created(first, second)).toEqual([first]);
});

test('in one process a key in use is refused before anything is done, another body by its reason', async () => {
  const { one } = open.current;
  const name = randomName();
  const request = randomRequest();
  const never = () => Promise.reject(new Error('acted twice'));
  const refusals: unknown[] = [];
  const refuse = async (again: IdempotentRequest) =>
    refusals.push(await one.run(again, never).catch(({ code, detail }) => [code, detail]));
  const before = async () => {
    await refuse(request);
    await refuse({ ...request, body: { a: 1 } });
  };
  await one.run(request, creating(name, { before }));
  await refuse({ ...request, body: { a: 1 } });
  const other = ['conflict', 'This idempotency key was used with another body or If-Match'];
  expect(refusals).toEqual([['conflict', expect.stringContaining('still in progress')], other, other]);
  expect((await one.run(request, never)).body).toEqual({ name });
});

test('a creation that fails, or whose process dies, leaves no claim: its repetition acts at once', async () => {
  const { one, other } = open.current;
  const name = randomName();
  const request = randomRequest();
  const after = () => Promise.reject(new Error('gone'));
  await expect(one.run(request, creating(name, { after }))).rejects.toThrow('gone');
  expect(await created(name)).toEqual([]);
  expect((await other.run(request, creating(name))).status).toBe(201);
  expect(await created(name)).toEqual([name]);
});

test('the claim of a process of the version before, which comes first, is in use until it ends', async () => {
  const { db, one } = open.current;
  const name = randomName();
  const request = randomRequest();
  await one.run(request, creating(name));
  const { tenantId } = request.caller;
  const claimed = (locked_until: Date) =>
    db
      .updateTable('idempotency_records')
      .set({ answer_ciphertext: null, locked_until: locked_until.toISOString() })
      .where('tenant_id', '=', tenantId)
      .execute();
  await claimed(new Date(Date.now() + 60_000));
  await expect(one.run(request, creating(name))).rejects.toMatchObject({ code: 'conflict' });
  await claimed(new Date(Date.now() - 60_000));
  expect((await one.run(request, creating(name))).status).toBe(201);
  expect(await created(name)).toHaveLength(2);
});

test('an operation that creates and keeps no answer fails, so none can be written that forgets it', async () => {
  const forgetful = async () => new Reply(201, {});
  await expect(open.current.one.run(randomRequest(), forgetful)).rejects.toThrow('kept no answer');
  expect((await open.current.one.run({ ...randomRequest(), creates: false }, forgetful)).status).toBe(201);
});
