import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { permissionsFor } from '@sluice/access';
import { recordChange, systemAct } from '@sluice/audit';
import { generateApiKey, hashKey } from '@sluice/credentials';
import type { Database } from '@sluice/database';
import { insertApplication } from '../applications/application.queries.ts';
import { insertTenant } from './tenant.queries.ts';

export interface NewTenant {
  tenant_id: string;
  owner_id: string;
  application_id: string;
  /** Holds every management permission. Shown once. */
  management_key: string;
}

/** Creates a Tenant and the first Application of it, which can manage it. */
export async function createTenant(
  { db, pepper, keyEnvironment }: { db: Database; pepper: KeyObject; keyEnvironment: string },
  { name, ownerId = randomUUID() }: { name: string; ownerId?: string },
): Promise<NewTenant> {
  const tenantId = randomUUID();
  const applicationId = randomUUID();
  const key = generateApiKey(keyEnvironment, 'management');
  await db.transaction().execute(async (tx) => {
    await insertTenant(tx, { id: tenantId, owner_id: ownerId, name });
    await insertApplication(tx, {
      tenant_id: tenantId,
      id: applicationId,
      name: 'Management',
      type: 'management',
      permissions: permissionsFor('management').map((permission) => permission.type),
      rules: '[]',
      key_hash: hashKey(pepper, key),
    });
    await recordChange(tx, systemAct(tenantId), { operation: 'create', entityType: 'tenant', entityId: tenantId });
  });
  return { tenant_id: tenantId, owner_id: ownerId, application_id: applicationId, management_key: key };
}
