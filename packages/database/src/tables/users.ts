import type { Generated } from 'kysely';

/** A person. One person may be a member of several Tenants. */
export interface UsersTable {
  id: Generated<string>;
  /** In lower case; one that an issuer has verified, or that an invitation was sent to. Two people may have the same one. */
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  picture: string | null;
  created_at: Generated<string>;
  modified_at: string | null;
}

/** By which a person signs in (OpenID Connect Core 1.0, section 5.7): an e-mail address is no identity. */
export interface IdentitiesTable {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: Generated<string>;
}
