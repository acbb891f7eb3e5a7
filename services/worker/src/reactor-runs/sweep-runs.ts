import type { Jobs } from '@sluice/service-runtime/jobs';
import type { Context } from '../context.ts';
import { deleteOldRuns, endLeases, endOverdue, listWaiting } from './reactor-run.queries.ts';

export type RunSweep = Pick<Context, 'db' | 'log' | 'metrics'> & { jobs: Jobs };

/**
 * Every run whose start was acknowledged ends: lost ones wait again or have failed, and each that waits gets a job, because
 * its own may have been lost with Redis.
 */
export async function sweepRuns({ db, log, metrics, jobs }: RunSweep): Promise<void> {
  for (let lost = await endLeases(db); lost.length > 0; lost = await endLeases(db)) {
    for (const { tenant_id, id, state } of lost) {
      metrics.lostRuns.inc({ outcome: state === 'failed' ? 'interrupted' : 'begins_again' });
      log.warn({ tenant_id, run_id: id, state }, 'a gateway has lost a run of a reactor');
    }
  }
  for (const { tenant_id, id, tries } of await listWaiting(db)) {
    // A job of each try, because that of a gateway that died keeps its id until it is found to have stalled.
    await jobs.enqueue('reactor-run', { id: `${id}-${tries}`, payload: { tenant_id, run_id: id } });
  }
}

export async function sweepOldRuns(db: Context['db']): Promise<void> {
  while ((await endOverdue(db)) > 0);
  while ((await deleteOldRuns(db)) > 0);
}
