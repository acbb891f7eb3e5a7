import type { Generated } from 'kysely';

export interface ProxiesTable {
  tenant_id: string;
  id: string;
  name: string;
  key_hash: Buffer;
  /** Encrypted and not hashed, because get and list answer it. */
  key_ciphertext: Buffer;
  destination_url: string;
  request_transform: string | null;
  response_transform: string | null;
  application_id: string | null;
  configuration_ciphertext: Buffer | null;
  require_auth: Generated<boolean>;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
