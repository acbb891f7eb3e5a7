import type { Generated } from 'kysely';

type RoleName = 'OWNER' | 'ADMIN' | 'DEVELOPER' | 'AUDITOR';

export interface MembersTable {
  tenant_id: string;
  id: Generated<string>;
  user_id: string;
  role: RoleName;
  /** Whether a person or a group of the issuer created the membership; a group's ends with the group. */
  source: Generated<'person' | 'group'>;
  /** A person has set the role since, so that a group no longer changes it. */
  keeps_role: Generated<boolean>;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}

/** Members whom a person removed, so that a group does not add them again. An accepted invitation deletes the row. */
export interface FormerMembersTable {
  tenant_id: string;
  user_id: string;
  removed_by: string | null;
  removed_at: Generated<string>;
}

export interface InvitationsTable {
  tenant_id: string;
  id: Generated<string>;
  /** In lower case. */
  email: string;
  role: RoleName;
  /** The future member; null if it is whoever accepts. */
  user_id: string | null;
  /** The membership that whoever accepts takes over. */
  member_id: string | null;
  secret_hash: Buffer;
  expires_at: string;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
