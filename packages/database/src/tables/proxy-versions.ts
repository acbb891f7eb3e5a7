/** A former state of a Proxy. */
export interface ProxyVersionsTable {
  tenant_id: string;
  id: string;
  proxy_id: string;
  /** From 1 in each Proxy. */
  version: number;
  /** When the Proxy got this state, and from whom. */
  at: string;
  by_id: string | null;
  /** Which members differ from the version before, by the names that answers have. */
  changed_members: string[];
  /** JSON of all members that the owner sets, encrypted with the purpose `proxy_secrets`. */
  definition_ciphertext: Buffer;
}

/** The field to which a version's ciphertext is bound. */
export const proxyVersionField = 'proxy_versions.definition';
