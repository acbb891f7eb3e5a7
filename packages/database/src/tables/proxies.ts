import type { Generated } from 'kysely';
import type { ProxyColumns } from './proxy-members.ts';

export interface ProxiesTable extends ProxyColumns {
  tenant_id: string;
  id: string;
  key_hash: Buffer;
  /** Encrypted and not hashed, because responses contain it. */
  key_ciphertext: Buffer;
  /** The Application that the newest change of the Proxy named. Its deletion and expiry leave it here. */
  named_application_id: string | null;
  /** From 1. Former ones are in `proxy_versions`. */
  version: Generated<number>;
  /** Which members the newest version changed. */
  changed_members: Generated<string[]>;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
