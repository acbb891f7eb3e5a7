/** What the access log says of an invocation, filled in as it becomes known. */
export interface InvocationRecord {
  proxyId?: string;
  tenantId?: string;
  applicationId?: string;
  destinationStatus?: number;
  tokens?: number;
}
