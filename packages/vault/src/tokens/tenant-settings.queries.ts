import { tenantClosed } from '@sluice/audit';
import type { Queryable } from '@sluice/database';

export interface TokenSettings {
  fingerprint_tokens: boolean;
  deduplicate_tokens: boolean;
}

export async function findTokenSettings(db: Queryable, tenantId: string): Promise<TokenSettings> {
  const settings = await db
    .selectFrom('tenants')
    .select(['fingerprint_tokens', 'deduplicate_tokens'])
    .where('id', '=', tenantId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (!settings) throw tenantClosed();
  return settings;
}
