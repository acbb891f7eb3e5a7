import type { Generated, JSONColumnType } from 'kysely';
import type { AccessRuleRow } from './applications.ts';

export interface SessionsTable {
  tenant_id: string;
  id: string;
  application_id: string;
  key_hash: Buffer;
  nonce_hash: Buffer;
  /** Where it was made from, and the network of that: IPv4 /24, IPv6 /48. */
  made_from: string;
  network: string;
  /** The private Application; null while the session waits. */
  authorized_by: string | null;
  authorizing_key_id: string | null;
  permissions: Generated<string[]>;
  rules: JSONColumnType<AccessRuleRow[], string | undefined>;
  proxies: string[] | null;
  /** Where this or `proxies` is set, every Proxy and reactor that is not named is refused. */
  reactors: string[] | null;
  address: string | null;
  /** Whether a frame of the hosted fields made it, and whether it was authorized as one of theirs. */
  made_by_fields: Generated<boolean>;
  fields: Generated<boolean>;
  created_at: Generated<string>;
  expires_at: string;
}
