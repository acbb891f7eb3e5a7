import { generateSecret, hashKey } from '@sluice/credentials';
import { eventually, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { shareTestConsole } from '../../testing/test-console.ts';
import { insertInvitation } from '../invitations/invitation.queries.ts';

/** A sign-in goes on as another in another Tenant, and by an invitation that is accepted. Its end must not be outrun by that. */
const api = useStack(() => shareTestConsole());

/** A member of two Tenants, who is signed in to the first. */
async function memberOfTwo() {
  const { db, member, anotherTenant, tenant } = api.current;
  const person = await member('ADMIN');
  const { tenant_id: otherId } = await anotherTenant('Other');
  await db.insertInto('members').values({ tenant_id: otherId, user_id: person.userId, role: 'ADMIN' }).execute();
  const change = (tenant_id = otherId) => person.send('POST', '/api/sign-in/tenant', { body: { tenant_id } });
  const rows = () => db.selectFrom('sign_ins').selectAll().where('user_id', '=', person.userId).execute();
  return { ...person, ownId: tenant.tenant_id, otherId, change, rows };
}

type Person = Awaited<ReturnType<typeof memberOfTwo>>;

async function acceptInvitation({ userId, send }: Person) {
  const { db, pepper, anotherTenant } = api.current;
  const { tenant_id: tenantId } = await anotherTenant('Third');
  const email = `${userId}@example.com`;
  await db.updateTable('users').set({ email }).where('id', '=', userId).execute();
  const token = generateSecret();
  await insertInvitation(db, { tenantId, email, role: 'ADMIN', secretHash: hashKey(pepper, token), createdBy: null });
  return send('POST', '/api/invitations/accept', { body: { token } });
}

const ways: [string, (person: Person) => Promise<{ status: number; headers: Headers }>][] = [
  ['a change of the Tenant', ({ change }) => change()],
  ['an invitation that is accepted', acceptInvitation],
];

test.each(ways)('%s makes no sign-in last longer', async (_way, goOn) => {
  const person = await memberOfTwo();
  const [row] = await person.rows();
  const ends = new Date(Date.now() + 3600_000).toISOString();
  await api.current.db
    .updateTable('sign_ins')
    .set({ expires_at: ends })
    .where('id', '=', row?.id ?? '')
    .execute();
  const { status, headers } = await goOn(person);
  expect(status).toBe(204);
  const [, seconds] = /Max-Age=(\d+)/.exec(headers.get('set-cookie') ?? '') ?? [];
  expect(Number(seconds)).toBeLessThanOrEqual(3600);
  expect((await person.send('GET', '/api/me')).body.expires_at).toBe(ends);
});

test.each(ways)('%s that waited does not go on where the sign-in was ended meanwhile', async (_way, goOn) => {
  const { db } = api.current;
  const person = await memberOfTwo();
  const [row] = await person.rows();
  const { answer } = await db.transaction().execute(async (tx) => {
    await tx
      .deleteFrom('sign_ins')
      .where('id', '=', row?.id ?? '')
      .execute();
    const answer = goOn(person);
    await untilLockIsAwaited(db);
    return { answer };
  });
  const { status, headers } = await answer;
  expect([status, headers.get('set-cookie')]).toEqual([401, null]);
  expect(await person.rows()).toEqual([]);
});

test('signing out everywhere ends a sign-in that is about to go on in another Tenant', async () => {
  const { db, signedIn } = api.current;
  const person = await memberOfTwo();
  const other = await signedIn(person.userId);
  const { changing, out } = await db.transaction().execute(async (tx) => {
    await sql`lock table audit_log in share mode`.execute(tx);
    const changing = person.change();
    await untilWaiting(1); // for its row in the log; that of the sign-in is there, and nobody sees it yet
    const out = other.send('POST', '/api/sign-out', { body: { all: true } });
    await untilWaiting(2);
    return { changing, out };
  });
  expect([(await out).status, (await changing).status]).toEqual([204, 204]);
  expect(await person.rows()).toEqual([]);
});

const untilWaiting = (wanted: number) =>
  eventually(`${wanted} wait for locks`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(api.current.db);
    return rows.length >= wanted;
  });

test('whoever changes the Tenant again and again with a stolen cookie does not survive that its owner signs out everywhere', async () => {
  const { signedIn } = api.current;
  const thief = await memberOfTwo();
  for (let round = 0; round < 5; round++) {
    const stolen = await signedIn(thief.userId);
    const owner = await signedIn(thief.userId);
    let isOver = false;
    const hopping = (async () => {
      for (let i = 0; !isOver; i++) {
        await stolen.send('POST', '/api/sign-in/tenant', {
          body: { tenant_id: i % 2 === 0 ? thief.otherId : thief.ownId },
        });
      }
    })();
    await owner.send('GET', '/api/me');
    expect((await owner.send('POST', '/api/sign-out', { body: { all: true } })).status).toBe(204);
    expect((await stolen.send('GET', '/api/me')).status).toBe(401);
    isOver = true;
    await hopping;
    expect(await thief.rows()).toEqual([]);
  }
});

test('whoever ends a sign-in that has gone on meanwhile is told that it is not there', async () => {
  const { db, member } = api.current;
  const [person, owner] = [await memberOfTwo(), await member('OWNER')];
  const [row] = await person.rows();
  const { answer } = await db.transaction().execute(async (tx) => {
    await tx
      .deleteFrom('sign_ins')
      .where('id', '=', row?.id ?? '')
      .execute();
    const answer = owner.send('DELETE', `/api/sign-ins/${row?.id}`);
    await untilLockIsAwaited(db);
    return { answer };
  });
  expect((await answer).status).toBe(404);
});
