import type { FeedStore } from '@sluice/invocation-feed';
import type { Jobs } from '@sluice/redis/jobs';
import type { Context } from '../context.ts';
import { noteEndedRuns } from './note-ended-runs.ts';
import { deleteOldRuns, endLeases, endOverdue, listWaiting } from './reactor-run.queries.ts';

type Noting = Pick<Context, 'db' | 'log'> & { feed: Pick<FeedStore, 'add'> };
export type RunSweep = Noting & Pick<Context, 'metrics'> & { jobs: Jobs };

/**
 * Lost runs wait again or fail, and each waiting run gets a job, because its own may have been lost with Redis. So
 * every acknowledged run ends.
 */
export async function sweepRuns({ db, log, metrics, jobs, feed }: RunSweep): Promise<void> {
  for (let lost = await endLeases(db); lost.length > 0; lost = await endLeases(db)) {
    for (const { tenant_id, id, state } of lost) {
      metrics.lostRuns.inc({ outcome: state === 'failed' ? 'interrupted' : 'begins_again' });
      log.warn({ tenant_id, run_id: id, state }, 'a gateway has lost a run of a reactor');
    }
    await noteEndedRuns(
      lost.filter((run) => run.state === 'failed'),
      { db, log, feed },
    );
  }
  for (const { tenant_id, id, tries } of await listWaiting(db)) {
    // The id names the try, because the job of a gateway that died keeps its id until BullMQ finds it stalled.
    await jobs.enqueue('reactor-run', { id: `${id}-${tries}`, payload: { tenant_id, run_id: id } });
  }
}

export async function sweepOldRuns({ db, log, feed }: Noting): Promise<void> {
  for (let overdue = await endOverdue(db); overdue.length > 0; overdue = await endOverdue(db)) {
    await noteEndedRuns(overdue, { db, log, feed });
  }
  while ((await deleteOldRuns(db)) > 0);
}
