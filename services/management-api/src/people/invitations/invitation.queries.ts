import type { Role } from '@sluice/access';
import { isPastEnd, type Queryable } from '@sluice/database';
import type { PageRequest } from '@sluice/http-api';
import { sql } from 'kysely';
import { inOrder, type Sorted } from '../../list-order.ts';
import { isNameFilter, likePattern } from '../../name-filter.ts';

const lifetime = sql<string>`clock_timestamp() + interval '72 hours'`;
const isPending = sql<boolean>`invitations.expires_at > clock_timestamp()`;

const columns = [
  'id',
  'tenant_id',
  'email',
  'role',
  'member_id',
  'expires_at',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;
const status = sql<'PENDING' | 'EXPIRED'>`case when ${isPending} then 'PENDING' else 'EXPIRED' end`.as('status');

/** A resend makes a new link, so whoever resent the invitation answers for it. */
const madeBy = sql<string | null>`coalesce(invitations.modified_by, invitations.created_by)`.as('made_by');

export type InvitationStatus = 'PENDING' | 'EXPIRED';

export interface NewInvitation {
  tenantId: string;
  email: string;
  role: Role;
  secretHash: Buffer;
  createdBy: string | null;
  /** The person who becomes the member. If absent, whoever accepts. */
  userId?: string;
  /** The membership that whoever accepts takes over. */
  memberId?: string | null;
}

export function insertInvitation(
  tx: Queryable,
  { tenantId, email, role, secretHash, createdBy, userId, memberId }: NewInvitation,
) {
  return tx
    .insertInto('invitations')
    .values({
      ...{ tenant_id: tenantId, email, role, secret_hash: secretHash, expires_at: lifetime },
      ...{ created_by: createdBy, user_id: userId ?? null, member_id: memberId ?? null },
    })
    .returning([...columns, status, madeBy])
    .executeTakeFirstOrThrow();
}

/**
 * Excludes other invitations of the Tenant until the transaction ends, so that checks of limits and addresses stay
 * true.
 */
export async function lockInvitations(tx: Queryable, tenantId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`invitations ${tenantId}`}, 0))`.execute(tx);
}

export async function countPending(tx: Queryable, tenantId: string): Promise<number> {
  const { total } = await tx
    .selectFrom('invitations')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('tenant_id', '=', tenantId)
    .where(isPending)
    .executeTakeFirstOrThrow();
  return total;
}

/** Whether a pending invitation has the address. */
export async function isInvited(tx: Queryable, tenantId: string, email: string): Promise<boolean> {
  const found = await tx
    .selectFrom('invitations')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('email', '=', email)
    .where(isPending)
    .executeTakeFirst();
  return found !== undefined;
}

export async function listInvitations(
  db: Queryable,
  tenantId: string,
  { status: wanted, email }: { status?: InvitationStatus | undefined; email?: string | undefined },
  page: PageRequest & Sorted,
) {
  const found = db
    .selectFrom('invitations')
    .where('tenant_id', '=', tenantId)
    .$if(wanted !== undefined, (query) =>
      query.where(wanted === 'PENDING' ? isPending : sql<boolean>`not ${isPending}`),
    )
    .$if(isNameFilter(email), (query) => query.where('email', 'ilike', likePattern(email ?? '')));
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (isPastEnd(page, total)) return { data: [], total };
  const data = await found
    .select([...columns, status, madeBy])
    .$call(inOrder(page, 'invitations', sql.ref('email')))
    .limit(page.size)
    .offset((page.page - 1) * page.size)
    .execute();
  return { data, total };
}

export function findInvitation(db: Queryable, tenantId: string, id: string) {
  return db
    .selectFrom('invitations')
    .select([...columns, status, madeBy])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function lockInvitation(tx: Queryable, tenantId: string, id: string) {
  return tx
    .selectFrom('invitations')
    .select(['id', 'role', 'email', 'member_id', isPending.as('isPending')])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export function replaceSecret(
  tx: Queryable,
  { tenantId, id, secretHash, modifiedBy }: { tenantId: string; id: string; secretHash: Buffer; modifiedBy: string },
) {
  return tx
    .updateTable('invitations')
    .set({
      ...{ secret_hash: secretHash, expires_at: lifetime, modified_by: modifiedBy },
      modified_at: sql<string>`clock_timestamp()`,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning([...columns, status, madeBy])
    .executeTakeFirstOrThrow();
}

export async function deleteInvitation(tx: Queryable, tenantId: string, id: string): Promise<void> {
  await tx.deleteFrom('invitations').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** Whether the invitation is pending. */
export async function isGood(db: Queryable, secretHash: Buffer): Promise<boolean> {
  return (await bySecret(db, secretHash).executeTakeFirst()) !== undefined;
}

/** Finds a pending invitation without using it. */
export function findBySecret(db: Queryable, secretHash: Buffer) {
  return bySecret(db, secretHash)
    .innerJoin('tenants', 'tenants.id', 'invitations.tenant_id')
    .select(['invitations.tenant_id', 'tenants.name as tenant_name', 'invitations.email', 'invitations.role'])
    .where('tenants.closed_at', 'is', null)
    .executeTakeFirst();
}

const bySecret = (db: Queryable, secretHash: Buffer) =>
  db.selectFrom('invitations').select('invitations.id').where('secret_hash', '=', secretHash).where(isPending);

export interface TakenInvitation {
  tenant_id: string;
  id: string;
  email: string;
  role: Role;
  user_id: string | null;
  /** The membership that whoever accepts takes over. */
  member_id: string | null;
  /** Whoever made the link. */
  made_by: string | null;
  /** When it was made, or sent again. */
  made_at: string;
}

/** Marks the invitation as used. Of two people who accept at the same time, the second waits and finds nothing. */
export function takeInvitation(tx: Queryable, secretHash: Buffer): Promise<TakenInvitation | undefined> {
  return tx
    .deleteFrom('invitations')
    .where('secret_hash', '=', secretHash)
    .where(isPending)
    .returning(['tenant_id', 'id', 'email', 'role', 'user_id', 'member_id'])
    .returning([sql<string>`coalesce(modified_at, created_at)`.as('made_at'), madeBy])
    .executeTakeFirst();
}
