import type { Generated } from 'kysely';

export interface ApplicationKeysTable {
  tenant_id: string;
  application_id: string;
  id: Generated<string>;
  /** Counts from 1 in each Application. */
  version: number;
  /** HMAC-SHA-256; the key itself is stored nowhere. */
  key_hash: Buffer;
  name: string | null;
  /** The last four characters of the key's random part; null for keys of versions that did not store them. */
  last_four: string | null;
  expires_at: string | null;
  created_by: string | null;
  created_at: Generated<string>;
}
