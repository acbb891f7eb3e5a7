import type { Jobs } from '@sluice/redis/jobs';
import type { Context } from '../context.ts';
import { deleteOldRuns, endLeases, endOverdue, listWaiting } from './reactor-run.queries.ts';

export type RunSweep = Pick<Context, 'db' | 'log' | 'metrics'> & { jobs: Jobs };

/**
 * Lost runs wait again or fail, and each waiting run gets a job, because its own may have been lost with Redis. So
 * every acknowledged run ends.
 */
export async function sweepRuns({ db, log, metrics, jobs }: RunSweep): Promise<void> {
  for (let lost = await endLeases(db); lost.length > 0; lost = await endLeases(db)) {
    for (const { tenant_id, id, state } of lost) {
      metrics.lostRuns.inc({ outcome: state === 'failed' ? 'interrupted' : 'begins_again' });
      log.warn({ tenant_id, run_id: id, state }, 'a gateway has lost a run of a reactor');
    }
  }
  for (const { tenant_id, id, tries } of await listWaiting(db)) {
    // The id names the try, because the job of a gateway that died keeps its id until BullMQ finds it stalled.
    await jobs.enqueue('reactor-run', { id: `${id}-${tries}`, payload: { tenant_id, run_id: id } });
  }
}

export async function sweepOldRuns(db: Context['db']): Promise<void> {
  while ((await endOverdue(db)) > 0);
  while ((await deleteOldRuns(db)) > 0);
}
