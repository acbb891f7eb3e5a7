/** What caches must drop because of one committed transaction. */
export interface Change {
  id: string;
  tags: readonly string[];
}

/** A change whose outbox row is in a transaction. */
export interface RecordedChange extends Change {
  tenantIds: readonly string[];
}

/** What a cache entry is known by. A change that names one of an entry's tags drops it. */
export const tagOf = {
  /** Everything of a Tenant. */
  tenant: (id: string) => `tenant:${id}`,
  application: (id: string) => `application:${id}`,
  session: (id: string) => `session:${id}`,
  proxy: (id: string) => `proxy:${id}`,
  /** Ids of tokens are chosen by Tenants. */
  token: (tenantId: string, id: string) => `token:${tenantId}/${id}`,
  /** All versions of the data keys for one purpose, wrapped and unwrapped. */
  dataKeys: (tenantId: string, purpose: string) => `data_keys:${tenantId}/${purpose}`,
} as const;

/** The tag of what is remembered as absent: named by whatever brings a key into being. */
export const absent = 'absent';
