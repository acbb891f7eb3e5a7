import type { Generated } from 'kysely';

export interface ProxiesTable {
  tenant_id: string;
  id: string;
  name: string;
  /** HMAC-SHA-256, by which an invocation finds the Proxy. */
  key_hash: Buffer;
  /** Encrypted and not hashed, because get and list answer it. */
  key_ciphertext: Buffer;
  destination_url: string;
  request_transform: string | null;
  response_transform: string | null;
  application_id: string | null;
  /** JSON text, encrypted; null where it is unset. */
  configuration_ciphertext: Buffer | null;
  require_auth: Generated<boolean>;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
