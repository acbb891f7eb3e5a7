import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@sluice/database';
import { eventually, insertTestSession, openTestDatabase, useStack } from '@sluice/testing';
import { authenticate, generateApiKey, hashKey, KeyUses, openKeyUses, readCallers, readPepper } from './index.ts';

const pepper = readPepper('p'.repeat(32));
const database = useStack((stack) => openTestDatabase(stack));

const hour = (n: number) => Date.UTC(2026, 0, 1, n);
const iso = (ms: number) => new Date(ms).toISOString();
const caller = (keyId?: string) => ({ tenantId: 'tenant', id: 'application', ...(keyId !== undefined && { keyId }) });

/** What one write carries, as keys and hours. */
async function written(uses: KeyUses): Promise<string[][]> {
  let batch: string[][] = [];
  await uses.write(async (rows) => {
    batch = rows.map(({ key_id, at }) => [key_id, at]);
  });
  return batch;
}

describe('notes', () => {
  test('a key is written once in each hour, however often it is used', async () => {
    let now = hour(9) + 60_000;
    const uses = new KeyUses({ now: () => now });
    for (let i = 0; i < 3; i++) uses.note(caller('a'));
    expect(await written(uses)).toEqual([['a', iso(hour(9))]]);
    now = hour(10) - 1;
    uses.note(caller('a'));
    expect(await written(uses)).toEqual([]);
    now = hour(10);
    for (const key of ['a', 'b', 'a']) uses.note(caller(key));
    expect(await written(uses)).toEqual([
      ['a', iso(hour(10))],
      ['b', iso(hour(10))],
    ]);
  });

  test('what could not be written is written later, with its hour, or with a later one', async () => {
    let now = hour(9);
    const uses = new KeyUses({ now: () => now });
    for (const key of ['a', 'b']) uses.note(caller(key));
    const failing = uses.write(async () => {
      now = hour(11);
      uses.note(caller('a'));
      throw new Error('away');
    });
    await expect(failing).rejects.toThrow('away');
    expect([uses.waiting, uses.failedWrites]).toEqual([2, 1]);
    expect(await written(uses)).toEqual([
      ['a', iso(hour(11))],
      ['b', iso(hour(9))],
    ]);
    expect(uses.waiting).toBe(0);
  });

  test('a flood of keys takes bounded memory; a key that found no room is noted at its next use', async () => {
    const uses = new KeyUses({ now: () => hour(9), limit: 100 });
    for (let i = 0; i < 1000; i++) uses.note(caller(`key-${i}`));
    expect(uses.waiting).toBe(100);
    await written(uses);
    uses.note(caller('key-999'));
    expect(await written(uses)).toEqual([['key-999', iso(hour(9))]]);
  });

  test('the bound also counts what is being written', async () => {
    const uses = new KeyUses({ now: () => hour(9), limit: 2 });
    for (const key of ['a', 'b']) uses.note(caller(key));
    await uses.write(async () => uses.note(caller('c')));
    expect(await written(uses)).toEqual([]);
  });

  test('who has no key of an Application counts for none', () => {
    const uses = new KeyUses();
    uses.note(caller());
    expect(uses.waiting).toBe(0);
  });
});

async function insertKey(db: Database, { isExpired = false, key = generateApiKey('test', 'private') } = {}) {
  const [tenant_id, id] = [randomUUID(), randomUUID()];
  await db.insertInto('tenants').values({ id: tenant_id, owner_id: randomUUID(), name: 'T' }).execute();
  const grants = { type: 'private' as const, permissions: ['token:read'], rules: '[]' };
  const expires_at = isExpired ? iso(Date.now() - 1) : null;
  const row = { tenant_id, id, name: 'A', ...grants, expires_at, key_hash: hashKey(pepper, key) };
  await db.insertInto('applications').values(row).execute();
  const { id: keyId } = await db
    .selectFrom('application_keys')
    .select('id')
    .where('tenant_id', '=', tenant_id)
    .executeTakeFirstOrThrow();
  return { key, tenantId: tenant_id, id, keyId };
}

type Used = Awaited<ReturnType<typeof insertKey>>;

/** Notes the uses and disposes, which writes them. */
async function use(keys: readonly Used[], now: () => number = Date.now): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const onError = (error: unknown) => {
    throw error;
  };
  const uses = openKeyUses({ db: database.current.db, stack, onError, now });
  for (const key of keys) uses.note(key);
}

async function lastUse({ tenantId, keyId }: Used): Promise<string | undefined> {
  const row = await database.current.db
    .selectFrom('key_uses')
    .select('last_used_at')
    .where('tenant_id', '=', tenantId)
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  return row?.last_used_at;
}

describe('rows', () => {
  test('what waits is written within the interval', async () => {
    const { db } = database.current;
    await using stack = new AsyncDisposableStack();
    const key = await insertKey(db);
    const uses = openKeyUses({ db, stack, onError: () => {}, intervalMs: 10, now: () => hour(9) });
    uses.note(key);
    await eventually('the row', async () => (await lastUse(key)) === iso(hour(9)));
    expect([uses.waiting, uses.failedWrites]).toEqual([0, 0]);
  });

  test('of several processes the latest hour stays, also of one whose clock is ahead', async () => {
    const key = await insertKey(database.current.db);
    await use([key], () => hour(10));
    await use([key], () => hour(9));
    expect(await lastUse(key)).toBe(iso(hour(10)));
    const earliest = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    await use([key], () => Date.now() + 365 * 86_400_000);
    expect([iso(earliest), iso(earliest + 3_600_000)]).toContain(await lastUse(key));
  });

  test('a key that was deleted meanwhile gets no row, and the others do; a deleted key takes its row along', async () => {
    const { db } = database.current;
    const [gone, stays] = [await insertKey(db), await insertKey(db)];
    const deleteKey = ({ keyId }: Used) => db.deleteFrom('application_keys').where('id', '=', keyId).execute();
    await deleteKey(gone);
    await use([gone, stays], () => hour(9));
    expect([await lastUse(gone), await lastUse(stays)]).toEqual([undefined, iso(hour(9))]);
    await deleteKey(stays);
    expect(await lastUse(stays)).toBeUndefined();
  });

  test('a write does not wait for a deletion that is under way, and the deletion leaves nothing', async () => {
    const { db } = database.current;
    const [going, stays] = [await insertKey(db), await insertKey(db)];
    await db.transaction().execute(async (tx) => {
      await tx.deleteFrom('application_keys').where('id', '=', going.keyId).execute();
      await use([going, stays], () => hour(9));
    });
    expect([await lastUse(going), await lastUse(stays)]).toEqual([undefined, iso(hour(9))]);
  });

  test('a note that names another Tenant, or another Application, writes nothing', async () => {
    const { db } = database.current;
    const [key, other] = [await insertKey(db), await insertKey(db)];
    await use([
      { ...key, tenantId: other.tenantId },
      { ...key, id: other.id },
    ]);
    expect(await db.selectFrom('key_uses').select('key_id').where('key_id', '=', key.keyId).execute()).toEqual([]);
  });

  test('without Postgres nothing fails but the write, and disposal ends', async () => {
    const key = await insertKey(database.current.db);
    const errors: unknown[] = [];
    {
      await using stack = new AsyncDisposableStack();
      const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_POOL_SIZE: 1 };
      const db = connectDatabase(away, { stack, onError: () => {} });
      const uses = openKeyUses({ db, stack, onError: (error) => errors.push(error), intervalMs: 10 });
      uses.note(key);
      await eventually('a failed write', async () => uses.failedWrites > 0);
      uses.note(key);
      expect(uses.waiting).toBe(1);
    }
    expect(errors[0]).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('authentication', () => {
  const present = (key: string, keyUses: KeyUses) =>
    authenticate(key, { callers: readCallers(database.current.db), pepper, keyUses, headerName: 'SVC-API-KEY' });

  test('notes a key that is accepted, and none that is refused', async () => {
    const uses = new KeyUses();
    const { db } = database.current;
    const { key: expired } = await insertKey(db, { isExpired: true });
    const flood = Array.from({ length: 50 }, () => generateApiKey('test', 'private'));
    for (const key of [...flood, 'nothing', expired]) {
      await expect(present(key, uses)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    expect(uses.waiting).toBe(0);
    const { key, keyId } = await insertKey(db);
    await present(key, uses);
    expect(await written(uses)).toEqual([[keyId, expect.any(String)]]);
  });

  test('notes no key for a session: neither the one that made it nor the one that authorized it', async () => {
    const uses = new KeyUses();
    const { db } = database.current;
    const { tenantId, id } = await insertKey(db);
    const key = generateApiKey('test', 'session');
    const permissions = ['token:read'];
    await insertTestSession(db, { tenantId, authorizerId: id, keyHash: hashKey(pepper, key), permissions });
    expect(await present(key, uses)).toMatchObject({ type: 'session' });
    expect(uses.waiting).toBe(0);
  });
});
