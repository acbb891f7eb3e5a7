/** Tenants for which something comes due, so that sweeps go Tenant by Tenant. */
export interface DueTokensTable {
  tenant_id: string;
  /** `expiry`: tokens that expire; `cvc`: verification codes that must go. */
  kind: 'expiry' | 'cvc';
  /** The beginning of the minute. */
  due_at: string;
}
