import { prepared, type Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { type FoundCaller, keyNotExpired, notExpired } from './find-caller.ts';

export interface FoundSession extends FoundCaller {
  madeBy: string;
}

/**
 * Undefined before it is authorized, after its expiry, and once an Application, the authorizing key or the Tenant is
 * gone.
 */
export async function findSession(db: Queryable, keyHash: Buffer): Promise<FoundSession | undefined> {
  const [row] = await selectByKeyHash(db, keyHash);
  return row && toSession(row);
}

/** The same by its id, for work that acts as a session without its key. */
export async function findSessionById(db: Queryable, tenantId: string, id: string): Promise<FoundSession | undefined> {
  const [row] = await selectById(db, tenantId, id);
  return row && toSession(row);
}

function toSession(row: SessionRow): FoundSession {
  const { within_permissions, within_rules, within_proxies, proxies, reactors, ...session } = row;
  return {
    ...session,
    type: 'session',
    within: { permissions: within_permissions, rules: within_rules },
    ...boundTo({ proxies, reactors, within: within_proxies }),
  };
}

interface Bounds {
  proxies: string[] | null;
  reactors: string[] | null;
  /** The Proxies of the authorizing Application. */
  within: string[] | null;
}

/** A session has what both lists name. An Application that names Proxies calls no reactor. */
function boundTo({ proxies, reactors, within }: Bounds) {
  if (!proxies && !reactors) return within && { proxies: within, reactors: [] };
  if (!within) return { proxies: proxies ?? [], reactors: reactors ?? [] };
  return { proxies: (proxies ?? []).filter((id) => within.includes(id)), reactors: [] };
}

const makerNotExpired = sql<boolean>`(maker.expires_at is null or maker.expires_at > clock_timestamp())`;

const selectByKeyHash = prepared('session_by_key_hash', (db, keyHash: Buffer) =>
  sessions(db).where('sessions.key_hash', '=', keyHash),
);

const selectById = prepared('session_by_id', (db, tenantId: string, id: string) =>
  sessions(db).where('sessions.tenant_id', '=', tenantId).where('sessions.id', '=', id),
);

type SessionRow = Awaited<ReturnType<typeof selectById>>[number];

function sessions(db: Queryable) {
  return db
    .selectFrom('sessions')
    .innerJoin('tenants', 'tenants.id', 'sessions.tenant_id')
    .innerJoin('applications', (join) =>
      join
        .onRef('applications.tenant_id', '=', 'sessions.tenant_id')
        .on((eb) => eb('applications.id', '=', eb.ref('sessions.authorized_by'))),
    )
    .innerJoin('application_keys', (join) =>
      join
        .onRef('application_keys.tenant_id', '=', 'sessions.tenant_id')
        .on((eb) => eb('application_keys.application_id', '=', eb.ref('sessions.authorized_by')))
        .on((eb) => eb('application_keys.id', '=', eb.ref('sessions.authorizing_key_id'))),
    )
    .innerJoin('applications as maker', (join) =>
      join.onRef('maker.tenant_id', '=', 'sessions.tenant_id').onRef('maker.id', '=', 'sessions.application_id'),
    )
    .select([
      'sessions.id',
      'sessions.tenant_id as tenantId',
      'sessions.permissions',
      'sessions.rules',
      'sessions.proxies',
      'sessions.reactors',
      'sessions.application_id as madeBy',
      'maker.allowed_origins',
      'applications.id as applicationId',
      'applications.permissions as within_permissions',
      'applications.rules as within_rules',
      'applications.proxies as within_proxies',
      sql<string>`least(sessions.expires_at, applications.expires_at, application_keys.expires_at, maker.expires_at)`.as(
        'expires_at',
      ),
    ])
    .where('tenants.closed_at', 'is', null)
    .where(sql<boolean>`sessions.expires_at > clock_timestamp()`)
    .where(notExpired)
    .where(makerNotExpired)
    .where(keyNotExpired);
}
