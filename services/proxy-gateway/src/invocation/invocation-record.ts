import type { StageClock } from './stage-clock.ts';

/** What the access log and the metrics say of an invocation, filled in as it becomes known. */
export interface InvocationRecord {
  clock: StageClock;
  proxyId?: string;
  tenantId?: string;
  applicationId?: string;
  destinationStatus?: number;
  tokens?: number;
  hasTransform?: boolean;
  /** One of its Tenant's places is taken, and to be given back. */
  hasPlace?: boolean;
  /** What transforms hold of secrets; never logged, so that what they print can be cleaned of it. */
  sensitive?: unknown[];
}
