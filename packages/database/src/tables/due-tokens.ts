/** Tenants with due tokens by minute, so that sweeps go Tenant by Tenant. */
export interface DueTokensTable {
  tenant_id: string;
  kind: 'expiry' | 'cvc';
  /** The beginning of the minute. */
  due_at: string;
}
