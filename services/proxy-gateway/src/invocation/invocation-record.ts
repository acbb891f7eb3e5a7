/** What the access log says of an invocation, filled in as it becomes known. */
export interface InvocationRecord {
  proxyId?: string;
  tenantId?: string;
  applicationId?: string;
  destinationStatus?: number;
  tokens?: number;
  /** What transforms hold of secrets; never logged, so that what they print can be cleaned of it. */
  sensitive?: unknown[];
}
