/** Names of things that were renamed or deleted, written by triggers. */
export interface FormerNamesTable {
  tenant_id: string;
  kind: NamedKind;
  id: string;
  /** The e-mail address of a `member` or `user`. */
  name: string;
  /** When it was renamed or deleted. */
  until: string;
}

export type NamedKind = 'application' | 'application_key' | 'proxy' | 'reactor' | 'reactor_formula' | 'member' | 'user';
