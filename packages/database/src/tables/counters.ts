export interface CountersTable {
  tenant_id: string;
  /** `applications`, `proxies`, `tokens:<type>`, `active_tokens:<YYYY-MM-01>`. */
  counter: string;
  slot: number;
  value: number;
  last_at: string | null;
}
