import type { JSONColumnType } from 'kysely';

/** What a row counts: everything of the Tenant, or what one Proxy, Application or reactor took part in. */
export type CountedKind = 'tenant' | 'proxy' | 'application' | 'reactor';

/**
 * How many invocations ended in a minute, a quarter of an hour and six hours. Gateways add to all three, so that nothing is
 * rolled up later.
 */
export interface InvocationCountsTable {
  tenant_id: string;
  /** Seconds: 60, 900 or 21,600. */
  step: number;
  /** A multiple of the step since 1970. */
  start: string;
  /** `rest` stands for all series beyond the limit of one step. Its `id` is the Tenant's. */
  kind: CountedKind | 'rest';
  id: string;
  requests: number;
  /** Of which the destination itself answered 5xx. */
  destination_errors: number;
  /** Number of invocations by error code. */
  errors: JSONColumnType<Record<string, number>>;
  /** Number of invocations by bucket of durations. */
  durations: JSONColumnType<Record<string, number>>;
}
