export interface Change {
  id: string;
  tags: readonly string[];
}

/** A change that its transaction has stored in the outbox. */
export interface RecordedChange extends Change {
  tenantIds: readonly string[];
}

/** A change drops the cache entries with one of its tags. */
export const tagOf = {
  tenant: (id: string) => `tenant:${id}`,
  application: (id: string) => `application:${id}`,
  session: (id: string) => `session:${id}`,
  /** The row behind a cookie. */
  signIn: (id: string) => `sign_in:${id}`,
  /** The rights of a person, in any Tenant. */
  user: (id: string) => `user:${id}`,
  proxy: (id: string) => `proxy:${id}`,
  reactor: (id: string) => `reactor:${id}`,
  /** The code that all reactors of the formula run. */
  reactorFormula: (id: string) => `reactor_formula:${id}`,
  /** Names the Tenant too, because Tenants choose the ids of tokens. */
  token: (tenantId: string, id: string) => `token:${tenantId}/${id}`,
  dataKeys: (tenantId: string, purpose: string) => `data_keys:${tenantId}/${purpose}`,
} as const;

/** Tag of cached absences. Every change that creates something has it. */
export const absent = 'absent';
