import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';

export interface TokenSettings {
  fingerprint_tokens: boolean;
  deduplicate_tokens: boolean;
}

/** @throws {ServiceError} `unauthenticated` where the Tenant is closed, because its keys are then closed too. */
export async function findTokenSettings(db: Queryable, tenantId: string): Promise<TokenSettings> {
  const settings = await db
    .selectFrom('tenants')
    .select(['fingerprint_tokens', 'deduplicate_tokens'])
    .where('id', '=', tenantId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (!settings) throw new ServiceError('unauthenticated', 'The Tenant of this key is closed');
  return settings;
}
