import type { Generated } from 'kysely';

export interface DataKeysTable {
  tenant_id: string;
  purpose: 'token_data' | 'proxy_secrets' | 'fingerprint' | 'blind_index' | 'idempotency';
  version: number;
  /** Wrapped by the root key. Without it the Tenant's data is unreadable. */
  wrapped_key: Buffer;
  root_key_id: string;
  use_count: Generated<number>;
  created_at: Generated<string>;
}
