import { randomBytes, randomUUID } from 'node:crypto';
import { permissionsOf } from '@sluice/access';
import { tagOf } from '@sluice/cache-coherence';
import {
  eventually,
  insertTestMember,
  insertTestSession,
  insertTestSignIn,
  openTestCoherence,
  openTestDatabase,
  useStack,
} from '@sluice/testing';
import {
  authenticateSignIn,
  cacheCallers,
  generateSecret,
  hashKey,
  readCallers,
  readPepper,
  watchCaller,
} from './index.ts';

const pepper = readPepper('p'.repeat(32));
const database = useStack((stack) => openTestDatabase(stack));

async function createTenant(): Promise<string> {
  const id = randomUUID();
  await database.current.db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
  return id;
}

async function signedInMember({ tenantId = '', userId = randomUUID(), expiresInMs = 3600_000 } = {}) {
  const { db } = database.current;
  const tenant = tenantId || (await createTenant());
  const member = await insertTestMember(db, { tenantId: tenant, role: 'ADMIN', userId });
  const secret = generateSecret();
  const secretHash = hashKey(pepper, secret);
  const signInId = await insertTestSignIn(db, { tenantId: tenant, userId, secretHash, expiresInMs });
  const caller = {
    id: userId,
    tenantId: tenant,
    type: 'user' as const,
    role: 'ADMIN' as const,
    permissions: permissionsOf('ADMIN'),
    rules: [],
    signInId,
  };
  return { secret, caller, member, tenantId: tenant };
}

async function signedInByKey() {
  const { db } = database.current;
  const [tenantId, id] = [await createTenant(), randomUUID()];
  const application = { tenant_id: tenantId, id, name: 'A', type: 'management' as const, permissions: ['proxy:read'] };
  await db
    .insertInto('applications')
    .values({ ...application, rules: '[]', key_hash: randomBytes(32) })
    .execute();
  const key = await db
    .selectFrom('application_keys')
    .select('id')
    .where('application_id', '=', id)
    .executeTakeFirstOrThrow();
  const secret = generateSecret();
  const secretHash = hashKey(pepper, secret);
  const signInId = await insertTestSignIn(db, { tenantId, applicationId: id, keyId: key.id, secretHash });
  return { secret, tenantId, applicationId: id, keyId: key.id, signInId };
}

const present = async (secret: string | undefined) =>
  authenticateSignIn(secret, { callers: readCallers(database.current.db), pepper });
const outcome = (secret: string | undefined) =>
  present(secret).then(
    (caller) => caller.id,
    (error) => error.detail,
  );
const refused = 'You are not signed in';

test('a cookie gives the person with the permissions of the role, or the Application as it is', async () => {
  const { secret, caller } = await signedInMember();
  expect(await present(secret)).toEqual({ ...caller, expiresAt: expect.any(String) });
  const byKey = await signedInByKey();
  expect(await present(byKey.secret)).toEqual({
    id: byKey.applicationId,
    tenantId: byKey.tenantId,
    type: 'management',
    permissions: ['proxy:read'],
    rules: [],
    keyId: byKey.keyId,
    signInId: byKey.signInId,
    expiresAt: expect.any(String),
  });
});

test('every cookie that is not accepted gives the same error', async () => {
  const { db } = database.current;
  const expired = await signedInMember({ expiresInMs: -1 });
  const closed = await signedInMember();
  await db
    .updateTable('tenants')
    .set({ closed_at: new Date().toISOString() })
    .where('id', '=', closed.tenantId)
    .execute();
  const secrets = [
    undefined,
    '',
    'x',
    'x'.repeat(43),
    'x'.repeat(100_000),
    generateSecret(),
    expired.secret,
    closed.secret,
  ];
  for (const secret of secrets) {
    await expect(present(secret)).rejects.toMatchObject({ code: 'unauthenticated', detail: refused });
  }
});

test('a sign-in goes with the member, the key, the Application, and at its expiry', async () => {
  const { db } = database.current;
  const member = await signedInMember();
  await db.deleteFrom('members').where('id', '=', member.member.id).execute();
  expect(await outcome(member.secret)).toBe(refused);

  const [ofKey, ofApplication, ofExpired] = [await signedInByKey(), await signedInByKey(), await signedInByKey()];
  const second = {
    tenant_id: ofKey.tenantId,
    application_id: ofKey.applicationId,
    version: 2,
    key_hash: randomBytes(32),
  };
  await db.insertInto('application_keys').values(second).execute();
  await db.deleteFrom('application_keys').where('id', '=', ofKey.keyId).execute();
  await db.deleteFrom('applications').where('id', '=', ofApplication.applicationId).execute();
  const expires_at = new Date(Date.now() - 1).toISOString();
  await db.updateTable('application_keys').set({ expires_at }).where('id', '=', ofExpired.keyId).execute();
  for (const { secret } of [ofKey, ofApplication, ofExpired]) expect(await outcome(secret)).toBe(refused);
});

test('a person of two Tenants has in each the role of that Tenant', async () => {
  const { db } = database.current;
  const userId = randomUUID();
  const [one, other] = [await signedInMember({ userId }), await signedInMember({ userId })];
  await db.updateTable('members').set({ role: 'AUDITOR' }).where('id', '=', other.member.id).execute();
  expect(await present(one.secret)).toMatchObject({ id: userId, role: 'ADMIN' });
  expect(await present(other.secret)).toMatchObject({ id: userId, role: 'AUDITOR' });
});

describe('in the caches of another process', () => {
  const processes = useStack(async (stack) => {
    const { changes } = await openTestCoherence(database.current, stack);
    const { caches } = await openTestCoherence(database.current, stack);
    const callers = cacheCallers(database.current.db, caches, { maxEntries: 1000, maxBytes: 1024 * 1024 });
    return { changes, caches, callers };
  });
  const isAccepted = async (secret: string) => {
    const { callers } = processes.current;
    return (await Promise.resolve(callers.bySignInHash(hashKey(pepper, secret).toString('latin1')))) !== undefined;
  };

  test.each(['the person', 'the sign-in'])(
    'what ends %s is confirmed only when the cookie is refused',
    async (what) => {
      const { db } = database.current;
      const { changes, caches } = processes.current;
      const { secret, caller, member, tenantId } = await signedInMember();
      expect(await isAccepted(secret)).toBe(true);
      let heard = 0;
      const stop = watchCaller(caches, caller, () => {
        heard += 1;
      });
      const tag = what === 'the person' ? tagOf.user(caller.id) : tagOf.signIn(caller.signInId);
      const change = await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('members').where('id', '=', member.id).execute();
        return changes.record(tx, tenantId, [tag]);
      });
      expect(await isAccepted(secret)).toBe(true); // from the cache, which nobody has told
      await changes.barrier(change);
      expect(await isAccepted(secret)).toBe(false);
      expect(heard).toBe(1);
      stop();
    },
  );

  test('that of a key goes with its Application', async () => {
    const { db } = database.current;
    const { changes } = processes.current;
    const { secret, applicationId, tenantId } = await signedInByKey();
    expect(await isAccepted(secret)).toBe(true);
    const change = await db.transaction().execute(async (tx) => {
      await tx.deleteFrom('applications').where('id', '=', applicationId).execute();
      return changes.record(tx, tenantId, [tagOf.application(applicationId)]);
    });
    await changes.barrier(change);
    expect(await isAccepted(secret)).toBe(false);
  });

  test.each(['the Application that authorized it', 'the Application that made it'])(
    'a session goes with %s',
    async (what) => {
      const { db } = database.current;
      const { changes, callers } = processes.current;
      const { tenantId, applicationId: authorizerId } = await signedInByKey();
      const keyHash = randomBytes(32);
      const id = await insertTestSession(db, { tenantId, keyHash, authorizerId });
      const find = async () => await callers.bySessionKeyHash(keyHash.toString('latin1'));
      expect(await find()).toMatchObject({ id });
      const session = await db
        .selectFrom('sessions')
        .select('application_id')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const ended = what.includes('authorized') ? authorizerId : session.application_id;
      const change = await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('applications').where('id', '=', ended).execute();
        return changes.record(tx, tenantId, [tagOf.application(ended)]);
      });
      await changes.barrier(change);
      expect(await find()).toBeUndefined();
    },
  );

  test('it is refused from its expiry on, which nobody tells', async () => {
    const { secret } = await signedInMember({ expiresInMs: 400 });
    expect(await isAccepted(secret)).toBe(true);
    await eventually('its end', async () => !(await isAccepted(secret)));
  });
});
