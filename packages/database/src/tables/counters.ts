/** A counter is the sum of several slots, so that writers of one Tenant do not wait for each other. */
export interface CountersTable {
  tenant_id: string;
  /** `applications`, `proxies`, `tokens:<type>`, `active_tokens:<YYYY-MM-01>`. */
  counter: string;
  slot: number;
  value: number;
  last_at: string | null;
}
