import type { Caller } from '@sluice/credentials';
import { isPastEnd, type Queryable } from '@sluice/database';
import type { PageRequest } from '@sluice/http-api';
import { sql } from 'kysely';
import { inOrder, type Sorted } from '../../list-order.ts';
import { isNameFilter, likePattern } from '../../name-filter.ts';
import { emailOf } from '../e-mail-of.ts';

const lifetime = sql<string>`clock_timestamp() + interval '12 hours'`;
const notEnded = sql<boolean>`sign_ins.expires_at > clock_timestamp()`;

/** A person in one of their Tenants, or the holder of a management key. */
export type SignedIn = { tenantId: string } & ({ userId: string } | { applicationId: string; keyId: string });

export function signedInOf({ id, tenantId, keyId }: Caller): SignedIn {
  return keyId === undefined ? { tenantId, userId: id } : { tenantId, applicationId: id, keyId };
}

const rowOf = (who: SignedIn) =>
  'userId' in who ? { user_id: who.userId } : { application_id: who.applicationId, key_id: who.keyId };

export interface SignInRow {
  who: SignedIn;
  secretHash: Buffer;
  /** The end of the sign-in that this one continues. The new one ends no later. */
  endsAt: string | undefined;
}

export function insertSignIn(tx: Queryable, { who, secretHash, endsAt }: SignInRow) {
  const expires_at = endsAt === undefined ? lifetime : sql<string>`least(${lifetime}, ${endsAt}::timestamptz)`;
  return tx
    .insertInto('sign_ins')
    .values({ tenant_id: who.tenantId, secret_hash: secretHash, expires_at, ...rowOf(who) })
    .returning(['id', sql<number>`round(extract(epoch from expires_at - clock_timestamp()))::int`.as('seconds')])
    .executeTakeFirstOrThrow();
}

/**
 * Until the transaction ends, no sign-in of the person can begin or move to another Tenant. Otherwise a sign-in that is
 * moving would survive when all are ended, because its new row is not visible yet.
 */
export async function lockPerson(tx: Queryable, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sign-ins ${userId}`}, 0))`.execute(tx);
}

const mostSignIns = 100;

/**
 * Ends the oldest sign-ins over the limit, because otherwise a key could create any number. @returns those that ended.
 */
export async function endOldest(tx: Queryable, who: SignedIn): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from sign_ins where tenant_id = ${who.tenantId} and id in (
      select id from sign_ins where tenant_id = ${who.tenantId} and ${isOf(who)}
      order by created_at desc, id desc offset ${sql.lit(mostSignIns)}
    ) returning id`.execute(tx);
  return rows.map(({ id }) => id);
}

const isOf = (who: SignedIn) =>
  'userId' in who
    ? sql<boolean>`user_id = ${who.userId}`
    : sql<boolean>`application_id = ${who.applicationId} and key_id = ${who.keyId}`;

export interface EndedSignIn {
  tenant_id: string;
  id: string;
}

/** Looks in every Tenant, because a browser has one cookie for all. */
export function deleteBySecret(tx: Queryable, secretHash: Buffer): Promise<EndedSignIn | undefined> {
  return tx
    .deleteFrom('sign_ins')
    .where('secret_hash', '=', secretHash)
    .returning(['tenant_id', 'id'])
    .executeTakeFirst();
}

/** Ends all sign-ins of a person, in every open Tenant, or all of a key. */
export async function deleteAllOf(tx: Queryable, who: SignedIn): Promise<EndedSignIn[]> {
  if ('userId' in who) await lockPerson(tx, who.userId);
  const { rows } = await sql<EndedSignIn>`
    delete from sign_ins using tenants
    where tenants.id = sign_ins.tenant_id and tenants.closed_at is null and ${isOf(who)}
      and ${'userId' in who ? sql`true` : sql`sign_ins.tenant_id = ${who.tenantId}`}
    returning sign_ins.tenant_id, sign_ins.id`.execute(tx);
  return rows;
}

export async function deleteSignIn(tx: Queryable, tenantId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sign_ins')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

const columns = ['id', 'user_id', 'application_id', 'created_at', 'last_used_at', 'expires_at'] as const;

/** With the role of the person; null for the sign-in of a key. */
export function findSignInById(db: Queryable, tenantId: string, id: string) {
  return db
    .selectFrom('sign_ins')
    .leftJoin('members', (join) =>
      join.onRef('members.tenant_id', '=', 'sign_ins.tenant_id').onRef('members.user_id', '=', 'sign_ins.user_id'),
    )
    .select(['sign_ins.user_id', 'sign_ins.application_id', 'sign_ins.key_id', 'members.role'])
    .where('sign_ins.tenant_id', '=', tenantId)
    .where('sign_ins.id', '=', id)
    .where(notEnded)
    .executeTakeFirst();
}

/**
 * Without `who` those of the whole Tenant. The sign-in of a key has no e-mail address. Counting is cheap, because each person has a limited number.
 */
export async function listSignIns(
  db: Queryable,
  { tenantId, who, email }: { tenantId: string; who: SignedIn | undefined; email: string | undefined },
  page: PageRequest & Sorted,
) {
  const found = db
    .selectFrom('sign_ins')
    .where('tenant_id', '=', tenantId)
    .where(notEnded)
    .$if(who !== undefined, (query) => query.where(who ? isOf(who) : sql<boolean>`true`))
    .$if(isNameFilter(email), (query) => query.where(emailOf('sign_ins.user_id'), 'ilike', likePattern(email ?? '')));
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (isPastEnd(page, total)) return { data: [], total };
  const data = await found
    .select(columns)
    .$call(inOrder(page, 'sign_ins', emailOf('sign_ins.user_id')))
    .limit(page.size)
    .offset((page.page - 1) * page.size)
    .execute();
  return { data, total };
}

/** The open Tenants of a person, by name. */
export function listTenantsOf(db: Queryable, userId: string) {
  return db
    .selectFrom('members')
    .innerJoin('tenants', 'tenants.id', 'members.tenant_id')
    .select(['tenants.id', 'tenants.name', 'members.role'])
    .where('members.user_id', '=', userId)
    .where('tenants.closed_at', 'is', null)
    .orderBy('tenants.name')
    .orderBy('tenants.id')
    .execute();
}

export function findUser(db: Queryable, id: string) {
  return db
    .selectFrom('users')
    .select(['id', 'email', 'first_name', 'last_name', 'picture'])
    .where('id', '=', id)
    .executeTakeFirst();
}
