import {
  bucketOf,
  type Counts,
  countInvocation,
  type EndedInvocation,
  emptyCounts,
  type FeedStore,
  type Series,
  toLine,
  writeCounts,
} from '@sluice/invocation-feed';
import { errorCodes } from '@sluice/problems';
import type { Context } from '../context.ts';

/** A run that the worker ended, and not a gateway. */
export interface EndedRun {
  tenant_id: string;
  reactor_id: string;
  created_by: string;
  caller_type: 'application' | 'session';
  trace_id: string;
  /** Null if it never began. */
  started_at: string | null;
  failure: keyof typeof codes;
}

/** The errors with which gateways answer for such a run. */
const codes = { interrupted: 'reactor_failed', overdue: 'unavailable' } as const;

type Telling = Pick<Context, 'db' | 'log'> & { feed: Pick<FeedStore, 'add'> };

/** Adds the runs to the list of invocations and to the metrics, as gateways do with theirs. What fails is not repeated. */
export async function noteEndedRuns(runs: readonly EndedRun[], { db, feed, log }: Telling): Promise<void> {
  const now = Date.now();
  const minute = Math.floor(now / 60_000);
  for (const [tenantId, ofTenant] of Map.groupBy(runs, ({ tenant_id }) => tenant_id)) {
    const ended = ofTenant.map((run) => endedOf(run, now));
    const counted = countsOf(tenantId, ended);
    const [ofAll] = counted;
    const minutes = new Map(ofAll && [[minute, ofAll.counts]]);
    const noted = await Promise.allSettled([
      writeCounts(
        db,
        tenantId,
        counted.map((one) => ({ ...one, minute })),
      ),
      feed.add(tenantId, { lines: ended.map(toLine), skipped: 0, minutes }),
    ]);
    for (const one of noted) {
      if (one.status === 'rejected')
        log.warn({ err: one.reason, tenant_id: tenantId }, 'ended runs of reactors were not noted');
    }
  }
}

/** The time in the queue is not a duration. */
function endedOf(run: EndedRun, now: number): EndedInvocation {
  const totalMs = run.started_at === null ? 0 : Math.max(0, now - Date.parse(run.started_at));
  const refusedBy = codes[run.failure];
  return {
    traceId: run.trace_id,
    beganAt: now - totalMs,
    ownerId: run.reactor_id,
    isRun: true,
    applicationId: run.caller_type === 'application' ? run.created_by : undefined,
    method: 'POST',
    status: errorCodes[refusedBy].status,
    destinationStatus: undefined,
    refusedBy,
    stages: { authenticate: 0, detokenize: 0, transform: 0, destination: 0 },
    totalMs,
    tokenIds: undefined,
    printed: undefined,
  };
}

/** That of the Tenant is the first. */
function countsOf(tenantId: string, ended: readonly EndedInvocation[]): { series: Series; counts: Counts }[] {
  const byId = new Map<string, { series: Series; counts: Counts }>();
  const add = (kind: Series['kind'], id: string, { refusedBy, destinationStatus, totalMs }: EndedInvocation) => {
    const of = byId.get(id) ?? { series: { kind, id }, counts: emptyCounts() };
    byId.set(id, of);
    countInvocation(of.counts, { errorCode: refusedBy, destinationStatus }, bucketOf(totalMs));
  };
  for (const run of ended) {
    add('tenant', tenantId, run);
    add('reactor', run.ownerId, run);
    if (run.applicationId !== undefined) add('application', run.applicationId, run);
  }
  return [...byId.values()];
}
