import type { Generated, JSONColumnType } from 'kysely';

/** A member of a configuration or of `args` that a formula declares. It is required unless `optional`. */
export interface DeclaredMember {
  name: string;
  description?: string;
  type: 'string' | 'boolean' | 'number';
  optional?: boolean;
}

/** Code that several reactors of the Tenant run, each with a configuration of its own. */
export interface ReactorFormulasTable {
  tenant_id: string;
  id: string;
  name: string;
  description: string | null;
  icon: string | null;
  /** A CommonJS module, at most 256 KiB. */
  code: string;
  configuration: JSONColumnType<DeclaredMember[], string | undefined, string>;
  request_parameters: JSONColumnType<DeclaredMember[], string | undefined, string>;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}
