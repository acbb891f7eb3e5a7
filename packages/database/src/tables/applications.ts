import type { Generated, JSONColumnType } from 'kysely';

export interface AccessRuleRow {
  description?: string;
  priority: number;
  container?: string;
  conditions?: { attribute: 'id' | 'container'; operator: 'starts_with' | 'equals'; value: string }[];
  transform: 'redact' | 'mask' | 'reveal';
  permissions: string[];
}

export interface ApplicationsTable {
  tenant_id: string;
  id: string;
  name: string;
  type: 'private' | 'public' | 'management';
  permissions: string[];
  rules: JSONColumnType<AccessRuleRow[]>;
  /** For the previous version, which knows one key: the hash of a key that does not expire, or null. */
  key_hash: Buffer | null;
  last_key_version: Generated<number>;
  /** From this time on the row counts as absent, even if it still exists. */
  expires_at: string | null;
  /** Pages that may use its key; if null the installation's setting decides, and no page can embed fields. */
  allowed_origins: string[] | null;
  /** The only Proxies that it and its sessions invoke; if null, all. */
  proxies: string[] | null;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
