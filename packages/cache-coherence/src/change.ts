/** What caches must drop because of one committed transaction. */
export interface Change {
  id: string;
  tags: readonly string[];
}

/** A change whose outbox row has been written in a transaction. */
export interface RecordedChange extends Change {
  tenantIds: readonly string[];
}

/** Names of what a cache entry depends on. A change that names one of its tags drops the entry. */
export const tagOf = {
  /** Everything of a Tenant. */
  tenant: (id: string) => `tenant:${id}`,
  application: (id: string) => `application:${id}`,
  session: (id: string) => `session:${id}`,
  proxy: (id: string) => `proxy:${id}`,
  /** Names the Tenant too, because Tenants choose the ids of tokens themselves. */
  token: (tenantId: string, id: string) => `token:${tenantId}/${id}`,
  /** Covers all versions of the data keys for one purpose, wrapped and unwrapped. */
  dataKeys: (tenantId: string, purpose: string) => `data_keys:${tenantId}/${purpose}`,
} as const;

/** The tag of entries that remember an absence. Every change that creates something names it. */
export const absent = 'absent';
