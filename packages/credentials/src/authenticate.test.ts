import { randomUUID } from 'node:crypto';
import { connectDatabase } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { eventually, openTestDatabase, useStack } from '@sluice/testing';
import { authenticate, generateApiKey, hashKey, KeyUses, readCallers, readPepper } from './index.ts';

const pepper = readPepper('p'.repeat(32));
const database = useStack((stack) => openTestDatabase(stack));

interface Part {
  expiresInMs?: number;
  isClosed?: boolean;
  key?: string;
}

async function createKey({ expiresInMs, isClosed = false, key = generateApiKey('test', 'private') }: Part = {}) {
  const { db } = database.current;
  const [tenant_id, id] = [randomUUID(), randomUUID()];
  const closed_at = isClosed ? new Date().toISOString() : null;
  await db.insertInto('tenants').values({ id: tenant_id, owner_id: randomUUID(), name: 'T', closed_at }).execute();
  const rules = [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:use'] }];
  const grants = { type: 'private' as const, permissions: ['token:read'], rules: JSON.stringify(rules) };
  const expires_at = expiresInMs === undefined ? null : new Date(Date.now() + expiresInMs).toISOString();
  const row = { tenant_id, id, name: 'A', ...grants, expires_at, key_hash: hashKey(pepper, key) };
  await db.insertInto('applications').values(row).execute();
  return { key, caller: { id, tenantId: tenant_id, type: 'private', permissions: ['token:read'], rules } };
}

const presenting = { pepper, keyUses: new KeyUses(), headerName: 'SVC-API-KEY' };
const present = async (key: unknown, by = pepper) =>
  authenticate(key, { ...presenting, callers: readCallers(database.current.db), pepper: by });

test('a key gives its Application with type, permissions and rules', async () => {
  const { key, caller } = await createKey();
  expect(await present(key)).toEqual({ ...caller, keyId: expect.any(String) });
  expect(await present((await createKey({ expiresInMs: 60_000 })).key)).toMatchObject({ type: 'private' });
});

test('every key that is not accepted gives the same error', async () => {
  const { key } = await createKey();
  const refused: [unknown, typeof pepper?][] = [
    [undefined],
    [''],
    [['a']],
    [{}],
    ['x'.repeat(100_000)],
    [key.toUpperCase()],
    [` ${key}`],
    [generateApiKey('test', 'private')],
    [key, readPepper('q'.repeat(32))],
    [(await createKey({ expiresInMs: -1 })).key],
    [(await createKey({ isClosed: true })).key],
  ];
  const errors = await Promise.all(
    refused.map(([text, by]) =>
      present(text, by).then(
        () => undefined,
        (error: ServiceError) => error,
      ),
    ),
  );
  for (const error of errors) {
    expect(error).toMatchObject({
      code: 'unauthenticated',
      detail: 'The SVC-API-KEY header must contain a valid API key',
      errors: undefined,
    });
  }
});

test('a mistyped key costs no look-up', async () => {
  await using stack = new AsyncDisposableStack();
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_POOL_SIZE: 1 };
  const callers = readCallers(connectDatabase(away, { stack, onError: () => {} }));
  const presentTo = async (text: string) => authenticate(text, { ...presenting, callers });
  const key = generateApiKey('test', 'private');
  const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
  await expect(presentTo(mistyped)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(presentTo(key)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a key expires at its moment by the clock of the database', async () => {
  const earliest = Date.now() + 150; // Postgres has the same clock here
  const { key } = await createKey({ expiresInMs: 150 });
  const outcome = () => present(key).catch((error: unknown) => error);
  await eventually('its end', async () => (await outcome()) instanceof ServiceError);
  expect(Date.now()).toBeGreaterThanOrEqual(earliest);
  expect(await outcome()).toMatchObject({ code: 'unauthenticated' });
});

test('a key that is not cached is never written as JSON, which takes long where it has many rules', async () => {
  const { key, caller } = await createKey();
  const written = jest.spyOn(JSON, 'stringify');
  try {
    expect(await present(key)).toMatchObject(caller);
    const values = written.mock.calls.map(([value]) => value);
    expect(values).not.toContainEqual(expect.objectContaining({ id: caller.id }));
  } finally {
    written.mockRestore();
  }
});
