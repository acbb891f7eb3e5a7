/** For which Tenants something comes due, so that sweeps go Tenant by Tenant. */
export interface DueTokensTable {
  tenant_id: string;
  /** `expiry`: tokens that expire; `cvc`: verification codes that must go. */
  kind: 'expiry' | 'cvc';
  /** The beginning of the minute in which one or more of them are due. */
  due_at: string;
}
