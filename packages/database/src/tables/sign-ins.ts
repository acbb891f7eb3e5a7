import type { Generated } from 'kysely';

/** Found by the hash of a cookie. Of a member, or of a management key, and gone with either. */
export interface SignInsTable {
  tenant_id: string;
  id: Generated<string>;
  secret_hash: Buffer;
  user_id: string | null;
  application_id: string | null;
  key_id: string | null;
  created_at: Generated<string>;
  /** To the minute. */
  last_used_at: Generated<string>;
  expires_at: string;
}

/** A link that signs a member in, once. */
export interface SignInLinksTable {
  tenant_id: string;
  secret_hash: Buffer;
  user_id: string;
  created_at: Generated<string>;
  expires_at: string;
}

/** An issuer has said who is at the browser; into which Tenant they go is open. */
export interface PendingSignInsTable {
  secret_hash: Buffer;
  issuer: string;
  subject: string;
  /** Verified, in lower case. */
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  picture: string | null;
  expires_at: string;
}
