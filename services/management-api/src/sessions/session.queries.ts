import { isPastEnd, prepared, type Queryable, type SessionsTable } from '@sluice/database';
import type { Hold, PageRequest } from '@sluice/http-api';
import { type Insertable, sql } from 'kysely';
import { refuseWhatIsGone } from '../refuse-what-is-gone.ts';
import { reservePage } from '../reserve-page.ts';
import type { SessionLimits } from './session.limits.ts';

const columns = [
  'sessions.id',
  'sessions.application_id',
  'sessions.authorized_by',
  'sessions.permissions',
  'sessions.rules',
  'sessions.proxies',
  'sessions.reactors',
  'sessions.address',
  'sessions.fields',
  'sessions.created_at',
  'sessions.expires_at',
] as const;

const lifetime = sql<string>`clock_timestamp() + interval '3 minutes'`;
const notEnded = sql<boolean>`sessions.expires_at > clock_timestamp()`;

/** Whether the Application that created the session, and the key that authorized it, still exist. */
const isStanding = sql<boolean>`(
  exists (select from applications maker where maker.tenant_id = sessions.tenant_id
    and maker.id = sessions.application_id and (maker.expires_at is null or maker.expires_at > clock_timestamp()))
  and (sessions.authorized_by is null or exists (
    select from applications a join application_keys k on k.tenant_id = a.tenant_id and k.application_id = a.id
    where a.tenant_id = sessions.tenant_id and a.id = sessions.authorized_by and k.id = sessions.authorizing_key_id
      and (a.expires_at is null or a.expires_at > clock_timestamp())
      and (k.expires_at is null or k.expires_at > clock_timestamp())))
)`;

export type NewSession = Omit<Insertable<SessionsTable>, 'expires_at' | 'rules'>;

export function insertSession(tx: Queryable, row: NewSession) {
  const inserted = tx
    .insertInto('sessions')
    .values({ ...row, expires_at: lifetime })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow();
  return refuseWhatIsGone(inserted, keyGone);
}

/** The Application of the caller, or its key. */
const keyGone = 'The API key was deleted during this request';

/**
 * If too many sessions wait, ends the oldest session of the network with the most, so that a flood from one network
 * ends only its own. Expired sessions do not count, even while their rows exist. @returns how many ended.
 */
export async function makeRoom(
  tx: Queryable,
  { tenantId, applicationId }: { tenantId: string; applicationId: string },
  { APPLICATION_MAX_WAITING_SESSIONS: most }: SessionLimits,
): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sessions ${applicationId}`}, 0))`.execute(tx);
  const { numAffectedRows } = await sql`
    with waiting as materialized (
      select id, network, expires_at from sessions
      where tenant_id = ${tenantId} and application_id = ${applicationId} and authorized_by is null
        and expires_at > statement_timestamp()
    ),
    busiest as (
      select network from waiting
      where (select count(*) from waiting) >= ${most}
      group by network order by count(*) desc, network limit 1
    )
    delete from sessions where tenant_id = ${tenantId} and authorized_by is null and id in (
      select id from waiting where network = (select network from busiest) order by expires_at, id limit 1
    )`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

export function lockByNonce(tx: Queryable, tenantId: string, nonceHash: Buffer) {
  return tx
    .selectFrom('sessions')
    .select(['id', 'application_id', 'authorized_by', 'made_from', 'made_by_fields', 'expires_at'])
    .where('tenant_id', '=', tenantId)
    .where('nonce_hash', '=', nonceHash)
    .where(notEnded)
    .where(isStanding)
    .forUpdate()
    .executeTakeFirst();
}

export async function countAuthorized(db: Queryable, tenantId: string, most: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (
      select from sessions where tenant_id = ${tenantId} and authorized_by is not null
        and expires_at > statement_timestamp()
      limit ${most}
    ) as counted`.execute(db);
  return Number(rows[0]?.total ?? 0);
}

export interface Authorization {
  authorized_by: string;
  authorizing_key_id: string;
  permissions: string[];
  rules: string;
  proxies: string[] | null;
  reactors: string[] | null;
  address: string | null;
  fields: boolean;
  expires_at: string;
}

export async function giveGrants(tx: Queryable, tenantId: string, id: string, authorization: Authorization) {
  const update = tx.updateTable('sessions').set(authorization).where('tenant_id', '=', tenantId).where('id', '=', id);
  await refuseWhatIsGone(update.execute(), keyGone);
}

export async function findSessionById(db: Queryable, tenantId: string, id: string) {
  const [session] = await selectById(db, tenantId, id);
  return session;
}

const selectById = prepared('session_by_id', (db, tenantId: string, id: string) =>
  db
    .selectFrom('sessions')
    .select(columns)
    .where('sessions.tenant_id', '=', tenantId)
    .where('sessions.id', '=', id)
    .where(notEnded)
    .where(isStanding),
);

/** Newest first. Counting is cheap, because sessions are limited and live for a day at most. */
export async function listSessions(db: Queryable, tenantId: string, page: PageRequest & { hold: Hold }) {
  const ofTenant = db
    .selectFrom('sessions')
    .where('sessions.tenant_id', '=', tenantId)
    .where(notEnded)
    .where(isStanding);
  const { total } = await ofTenant.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (isPastEnd(page, total)) return { data: [], total };
  const rows = ofTenant
    .select(columns)
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id', 'desc')
    .limit(page.size)
    .offset((page.page - 1) * page.size);
  await reservePage(db, rows, page);
  return { data: await rows.execute(), total };
}

export async function deleteSession(tx: Queryable, tenantId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sessions')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notEnded)
    .where(isStanding)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
