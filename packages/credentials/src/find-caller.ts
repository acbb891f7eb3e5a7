import type { ApplicationType, Grants, Role } from '@sluice/access';
import { prepared, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

export interface Caller extends Grants {
  id: string;
  tenantId: string;
  type: ApplicationType | 'session' | 'user';
  keyId?: string;
  /** Set for a signed-in person or holder of a management key: the row behind the cookie. */
  signInId?: string;
  /** The person's role in this Tenant. */
  role?: Role;
  applicationId?: string;
  /** For a session: the public Application that created it. */
  madeBy?: string;
  /** If present, only these Proxies may be invoked. */
  proxies?: readonly string[];
  /** If present, only these reactors may be called. */
  reactors?: readonly string[];
  /** For a public Application and the sessions that it created: only pages of these origins may use the key. */
  allowedOrigins?: readonly string[];
  /** The earliest expiry of the key and everything that it depends on, by the database's clock. */
  expiresAt?: string;
}

export interface FoundCaller extends Omit<Caller, 'expiresAt' | 'allowedOrigins'> {
  expires_at: string | null;
  allowed_origins?: readonly string[] | null;
}

/** The name in the audit log. A sign-in by key acts as its Application. */
export function actorTypeOf({ type }: Pick<Caller, 'type'>): 'application' | 'session' | 'user' {
  return type === 'session' || type === 'user' ? type : 'application';
}

/** By the database's clock: an expired Application counts as deleted before its row is deleted. */
export const notExpired = sql<boolean>`(applications.expires_at is null or applications.expires_at > clock_timestamp())`;

export const keyNotExpired = sql<boolean>`(application_keys.expires_at is null or application_keys.expires_at > clock_timestamp())`;

/** Undefined for a key that is unknown or expired, or whose Application or Tenant is deleted. */
export async function findCaller(db: Queryable, keyHash: Buffer): Promise<FoundCaller | undefined> {
  const [row] = await selectByKeyHash(db, keyHash);
  return row && toFound(row);
}

const selectByKeyHash = prepared('caller_by_key_hash', (db, keyHash: Buffer) =>
  callers(db)
    .innerJoin('application_keys', (join) =>
      join
        .onRef('application_keys.tenant_id', '=', 'applications.tenant_id')
        .onRef('application_keys.application_id', '=', 'applications.id'),
    )
    .select([
      'application_keys.id as keyId',
      sql<string | null>`least(applications.expires_at, application_keys.expires_at)`.as('expires_at'),
    ])
    .where('application_keys.key_hash', '=', keyHash)
    .where(keyNotExpired),
);

export async function findCallerById(db: Queryable, tenantId: string, id: string): Promise<FoundCaller | undefined> {
  const [row] = await selectById(db, tenantId, id);
  return row && toFound(row);
}

const selectById = prepared('caller_by_id', (db, tenantId: string, id: string) =>
  callers(db)
    .select('applications.expires_at')
    .where('applications.tenant_id', '=', tenantId)
    .where('applications.id', '=', id),
);

/** An Application that names Proxies calls no reactor. */
function toFound<R extends { proxies: string[] | null }>({ proxies, ...row }: R) {
  return { ...row, ...(proxies && { proxies, reactors: [] }) };
}

function callers(db: Queryable) {
  return db
    .selectFrom('applications')
    .innerJoin('tenants', 'tenants.id', 'applications.tenant_id')
    .select([
      'applications.id',
      'applications.tenant_id as tenantId',
      'applications.type',
      'applications.permissions',
      'applications.rules',
      'applications.allowed_origins',
      'applications.proxies',
    ])
    .where('tenants.closed_at', 'is', null)
    .where(notExpired);
}
