import type { ApplicationType } from '@sluice/access';
import type { Restriction } from '@sluice/cache-coherence';
import type { Queryable } from '@sluice/database';
import { type FieldErrors, validationFailed } from '@sluice/problems';
import { sql } from 'kysely';

interface Owner {
  tenantId: string;
  type: ApplicationType;
  /** What the Application has now. An id of these may be of a Proxy that is gone. */
  stored: readonly string[] | null;
}

/**
 * Undefined and null pass. @throws {ServiceError} `validation_failed` for another type than private, and naming each id
 * that is of no Proxy of the Tenant.
 */
export async function checkProxies<T extends string[] | null | undefined>(
  tx: Queryable,
  sent: T,
  { tenantId, type, stored }: Owner,
): Promise<T | string[]> {
  if (!sent) return sent;
  if (type !== 'private') throw validationFailed({ proxies: ['may be set for private Applications only'] });
  const unknown = sent.filter((id) => !stored?.includes(id));
  const found = unknown.length === 0 ? [] : await findIds(tx, tenantId, unknown);
  const errors: FieldErrors = {};
  sent.forEach((id, i) => {
    if (unknown.includes(id) && !found.includes(id)) errors[`proxies[${i}]`] = ['must be the id of a Proxy'];
  });
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return [...new Set(sent)];
}

async function findIds(tx: Queryable, tenantId: string, ids: readonly string[]): Promise<string[]> {
  const rows = tx
    .selectFrom('proxies')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`);
  return (await rows.execute()).map(({ id }) => id);
}

/** A process of a version before would let the Application call every Proxy. */
export function proxiesRestriction(stored: readonly string[] | null, wanted: unknown): Restriction {
  return { member: 'proxies', stored, wanted, since: '0082-routes' };
}
