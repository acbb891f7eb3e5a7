import { randomUUID } from 'node:crypto';
import { asTenant, type Database } from '@sluice/database';
import { consume, openJobs } from '@sluice/redis/jobs';
import type { Runtime } from '@sluice/service-runtime';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { type Claim, claimRun, listNextRuns, releaseUnmarked, renewLease } from './run.queries.ts';
import { RunLost, type RunningRuns, runClaimed } from './run-claimed.ts';
import type { RunLimits, Runs } from './runs.ts';

interface RunContext extends RunningRuns, Pick<Context, 'reactorPlaces'> {
  /** Renews leases, because otherwise a Tenant that uses up its share of connections would lose its runs. */
  own: Database;
}

/** A pause ends by the clock of Postgres, and the job comes a little later. */
const afterPauseMs = 50;
/** Runs to enqueue when their Tenant has a free place: more than one, so that other gateways can take some. */
const nextOfTenant = 2;

/**
 * Consumes the jobs that name runs. If the Tenant has no free place, the run keeps waiting in its row, and the Tenant's oldest
 * runs are enqueued again when a place is released. So a Tenant with a thousand waiting runs delays no other Tenant.
 */
export function openRuns(
  config: Config,
  context: RunContext,
  { stack, tracing }: Pick<Runtime, 'stack' | 'tracing'>,
): { runs: Runs; runLimits: RunLimits } {
  const { db, own, log, reactorPlaces: places } = context;
  const { REDIS_URL: redisUrl, REACTOR_RUN_LEASE_MS: leaseMs } = config;
  const runLimits = { waiting: config.REACTOR_RUNS_WAITING, keptBytes: config.REACTOR_RESULTS_TENANT_BYTES };
  const onError = (err: unknown) => log.warn({ err }, 'a job of a run failed; the sweep of the worker repeats it');
  const jobs = openJobs({
    redisUrl,
    stack,
    onError: () => {},
    traceparent: tracing && (() => tracing.current()?.traceparent),
  });
  /** For each run in progress, the function that ends it here after its claim was lost. */
  const underWay = new Map<Claim, () => void>();
  const withoutPlace = new Set<string>();
  let isStopping = false;

  async function enqueue(tenantId: string, id: string, name = id): Promise<void> {
    await jobs.enqueue('reactor-run', { id: name, payload: { tenant_id: tenantId, run_id: id } }).catch(onError);
  }

  async function enqueueNext(tenantId: string): Promise<void> {
    for (const { id, tries } of await listNextRuns(db, tenantId, nextOfTenant)) {
      await enqueue(tenantId, id, `${id}-${tries}`);
    }
  }

  function onPlaceGivenBack(): void {
    for (const tenantId of isStopping ? [] : withoutPlace) {
      if (!places.isFree(tenantId)) continue;
      withoutPlace.delete(tenantId);
      void asTenant(tenantId, () => enqueueNext(tenantId)).catch(onError);
    }
  }

  async function onJob({ tenant_id: tenantId, run_id: id }: { tenant_id: string; run_id: string }): Promise<void> {
    if (isStopping) return;
    if (!places.isFree(tenantId)) {
      withoutPlace.add(tenantId);
      return;
    }
    const giveBack = places.take(tenantId);
    try {
      await asTenant(tenantId, () => claimAndRun({ tenantId, id, claimId: randomUUID() }));
    } finally {
      withoutPlace.add(tenantId); // because other runs of this Tenant may be waiting without a job
      giveBack();
    }
  }

  async function claimAndRun(claim: Claim): Promise<void> {
    const run = await claimRun(db, claim, leaseMs);
    if (!run) return;
    const losing = new AbortController();
    const lose = () => losing.abort(new RunLost());
    underWay.set(claim, lose);
    const renew = async () => {
      if (!(await renewLease(own, claim, leaseMs))) lose();
    };
    const renewing = setInterval(() => void renew().catch(onError), leaseMs / 3);
    try {
      const pauseMs = await runClaimed(claim, run, { context, limits: runLimits, signal: losing.signal });
      const { tenantId, id } = claim;
      const again = () => void enqueue(tenantId, id, `${id}-${run.tries}`);
      if (pauseMs !== undefined) setTimeout(again, pauseMs + afterPauseMs).unref();
    } finally {
      clearInterval(renewing);
      underWay.delete(claim);
    }
  }

  places.whenGivenBack(onPlaceGivenBack);
  consume('reactor-run', onJob, {
    redisUrl,
    stack,
    onError,
    concurrency: config.REACTOR_THREADS,
    inSpan: tracing?.inSpan,
  });
  // A shutdown waits only for runs that may have called a destination. All others are released and begin again elsewhere. Here
  // they have lost their claim, so they can call or change nothing any more.
  stack.defer(async () => {
    isStopping = true;
    const release = async ([claim, lose]: [Claim, () => void]) => {
      if (!(await releaseUnmarked(db, claim))) return;
      await enqueue(claim.tenantId, claim.id, claim.claimId);
      lose();
    };
    await Promise.all([...underWay].map((each) => release(each).catch(onError)));
  });
  return {
    runs: { begin: (tenantId, id) => void enqueue(tenantId, id) },
    runLimits,
  };
}
