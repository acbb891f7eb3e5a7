import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { permissionsFor } from '@sluice/access';
import { recordChange, systemAct } from '@sluice/audit';
import { generateApiKey, hashKey, lastFourOf } from '@sluice/credentials';
import type { Database, Queryable } from '@sluice/database';
import { insertApplication } from '../applications/application.queries.ts';
import { nameOwner } from '../people/sign-ins/make-link.ts';
import { insertTenant, lockTenant } from './tenant.queries.ts';

export interface NewTenant {
  tenant_id: string;
  owner_id: string;
  application_id: string;
  management_key: string;
}

export interface KeyMaker {
  db: Database;
  pepper: KeyObject;
  keyEnvironment: string;
  /** Gives the owner an address, because the console shows one. */
  linkSignIn?: boolean;
}

export async function createTenant(
  maker: KeyMaker,
  { name, ownerId = randomUUID() }: { name: string; ownerId?: string },
): Promise<NewTenant> {
  const tenantId = randomUUID();
  const made = await maker.db.transaction().execute(async (tx) => {
    await insertTenant(tx, { id: tenantId, owner_id: ownerId, name });
    if (maker.linkSignIn) await nameOwner(tx, ownerId);
    const made = await insertManagement(tx, maker, { tenantId, name: 'Management' });
    await recordChange(tx, systemAct(tenantId), { operation: 'create', entityType: 'tenant', entityId: tenantId });
    return made;
  });
  return { tenant_id: tenantId, owner_id: ownerId, ...made };
}

/** For an operator who lost the first key. Undefined for a missing or closed Tenant. */
export function createManagementKey(
  maker: KeyMaker,
  tenantId: string,
): Promise<Omit<NewTenant, 'owner_id'> | undefined> {
  return maker.db.transaction().execute(async (tx) => {
    if (!(await lockTenant(tx, tenantId))) return undefined;
    // With the time, because in files of the command line a name identifies its Application.
    const name = `Management ${new Date().toISOString()}`;
    const made = await insertManagement(tx, maker, { tenantId, name });
    await recordChange(tx, systemAct(tenantId), {
      operation: 'create',
      entityType: 'application',
      entityId: made.application_id,
    });
    return { tenant_id: tenantId, ...made };
  });
}

async function insertManagement(
  tx: Queryable,
  { pepper, keyEnvironment }: KeyMaker,
  { tenantId, name }: { tenantId: string; name: string },
) {
  const id = randomUUID();
  const key = generateApiKey(keyEnvironment, 'management');
  await insertApplication(tx, {
    tenant_id: tenantId,
    id,
    name,
    type: 'management',
    permissions: permissionsFor('management').map((permission) => permission.type),
    rules: '[]',
    key_hash: hashKey(pepper, key),
    last_four: lastFourOf(key),
  });
  return { application_id: id, management_key: key };
}
