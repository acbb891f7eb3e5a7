/**
 * Counts kept beside what they count, in the same transaction. A counter has several slots, so that writers of one
 * Tenant do not wait for each other; its value is the sum.
 */
export interface CountersTable {
  tenant_id: string;
  /** `applications`, `proxies`, `tokens:<type>`, `active_tokens:<YYYY-MM-01>`. */
  counter: string;
  slot: number;
  value: number;
  last_at: string | null;
}
