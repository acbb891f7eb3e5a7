import { permissionsOf, type Role } from '@sluice/access';
import { prepared, type Queryable } from '@sluice/database';
import { sql } from 'kysely';
import type { FoundCaller } from './find-caller.ts';

export interface FoundSignIn extends FoundCaller {
  signInId: string;
}

/** Undefined after its end, and once the member, the key, its Application or the Tenant is gone. */
export async function findSignIn(db: Queryable, secretHash: Buffer): Promise<FoundSignIn | undefined> {
  const [row] = await selectBySecretHash(db, secretHash);
  if (!row) return undefined;
  const { tenantId, signInId, expires_at } = row;
  const { userId, role, applicationId, keyId, type, permissions, rules } = row;
  if (userId !== null && role !== null) return { ...userOf(userId, role), tenantId, signInId, expires_at };
  if (applicationId === null || keyId === null || type === null) return undefined;
  return {
    id: applicationId,
    tenantId,
    type,
    permissions: permissions ?? [],
    rules: rules ?? [],
    keyId,
    signInId,
    expires_at,
  };
}

function userOf(id: string, role: Role) {
  return { id, type: 'user', role, permissions: permissionsOf(role), rules: [] } as const;
}

const selectBySecretHash = prepared('sign_in_by_secret_hash', (db, secretHash: Buffer) =>
  db
    .selectFrom('sign_ins')
    .innerJoin('tenants', 'tenants.id', 'sign_ins.tenant_id')
    .leftJoin('members', (join) =>
      join.onRef('members.tenant_id', '=', 'sign_ins.tenant_id').onRef('members.user_id', '=', 'sign_ins.user_id'),
    )
    .leftJoin('application_keys', (join) =>
      join
        .onRef('application_keys.tenant_id', '=', 'sign_ins.tenant_id')
        .onRef('application_keys.application_id', '=', 'sign_ins.application_id')
        .onRef('application_keys.id', '=', 'sign_ins.key_id')
        .on(sql<boolean>`(application_keys.expires_at is null or application_keys.expires_at > clock_timestamp())`),
    )
    .leftJoin('applications', (join) =>
      join
        .onRef('applications.tenant_id', '=', 'application_keys.tenant_id')
        .onRef('applications.id', '=', 'application_keys.application_id')
        .on(sql<boolean>`(applications.expires_at is null or applications.expires_at > clock_timestamp())`),
    )
    .select([
      'sign_ins.id as signInId',
      'sign_ins.tenant_id as tenantId',
      'members.user_id as userId',
      'members.role',
      'applications.id as applicationId',
      'application_keys.id as keyId',
      'applications.type',
      'applications.permissions',
      'applications.rules',
      sql<string>`least(sign_ins.expires_at, applications.expires_at, application_keys.expires_at)`.as('expires_at'),
    ])
    .where('sign_ins.secret_hash', '=', secretHash)
    .where('tenants.closed_at', 'is', null)
    .where(sql<boolean>`sign_ins.expires_at > clock_timestamp()`),
);
