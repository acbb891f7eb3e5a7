import type { StageClock } from './stage-clock.ts';
import type { InvocationTrace } from './trace.ts';

/** What the access log and the metrics say of an invocation, filled in as it becomes known. */
export interface InvocationRecord {
  clock: StageClock;
  /** Undefined where traces are off. */
  trace?: InvocationTrace | undefined;
  proxyId?: string;
  tenantId?: string;
  applicationId?: string;
  destinationStatus?: number;
  /** Why there was no answer; `caller_gone` where nobody waited for one. */
  errorCode?: string;
  tokens?: number;
  hasTransform?: boolean;
  /** One of its Tenant's places is taken, and to be given back. */
  hasPlace?: boolean;
  /** What transforms hold of secrets; never logged, so that what they print can be cleaned of it. */
  sensitive?: unknown[];
}
