/** When keys of Applications were last used. A table of its own, so that a use changes no row that decides about access. */
export interface KeyUsesTable {
  tenant_id: string;
  application_id: string;
  key_id: string;
  /** The beginning of the hour. */
  last_used_at: string;
}
