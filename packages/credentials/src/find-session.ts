import { prepared, type Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { type FoundCaller, keyNotExpired, notExpired } from './find-caller.ts';

export interface FoundSession extends FoundCaller {
  madeBy: string;
}

/** Undefined while it waits, after its expiry, and once an Application, the authorizing key or the Tenant is gone. */
export async function findSession(db: Queryable, keyHash: Buffer): Promise<FoundSession | undefined> {
  const [row] = await selectByKeyHash(db, keyHash);
  if (!row) return undefined;
  const { within_permissions, within_rules, proxies, ...session } = row;
  return {
    ...session,
    type: 'session',
    within: { permissions: within_permissions, rules: within_rules },
    ...(proxies && { proxies }),
  };
}

const makerNotExpired = sql<boolean>`(maker.expires_at is null or maker.expires_at > clock_timestamp())`;

const selectByKeyHash = prepared('session_by_key_hash', (db, keyHash: Buffer) =>
  db
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
      'sessions.application_id as madeBy',
      'applications.id as applicationId',
      'applications.permissions as within_permissions',
      'applications.rules as within_rules',
      sql<string>`least(sessions.expires_at, applications.expires_at, application_keys.expires_at, maker.expires_at)`.as(
        'expires_at',
      ),
    ])
    .where('sessions.key_hash', '=', keyHash)
    .where('tenants.closed_at', 'is', null)
    .where(sql<boolean>`sessions.expires_at > clock_timestamp()`)
    .where(notExpired)
    .where(makerNotExpired)
    .where(keyNotExpired),
);
