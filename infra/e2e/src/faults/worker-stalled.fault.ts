import { connectPostgres } from '@sluice/testing';
import { isWaitedFor } from '../under-load/audit-log.ts';
import { countKinds } from '../under-load/count.ts';
import { countDeletions, findLeft, untilGone } from '../under-load/expiring.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const lockMs = 2000;
/** Past the lock, and past the time that Postgres gives a session to go on with its transaction. */
const frozenMs = 14_000;
/** Such a session has 10 s; then jobs are found to have stalled, or are tried again; the rest is for a busy machine. */
const mostLateMs = 10_000 + 4 * lockMs;

const permissions = ['token:use'];

export const workerStalled = underLoad(
  'worker-stalled',
  'one of two workers hangs past its locks in the middle of deletions, then one is asked to end: each Application is deleted once, in time, with one audit row',
  {
    processes: { worker: 2 },
    // So that what one worker leaves behind is found by way of its jobs
    environment: { JOB_LOCK_MS: String(lockMs), SWEEP_INTERVAL_MS: '600000' },
    async disturb(world) {
      const hung = await createExpiring(world, 20, 8000);
      const frozen = await freezeInDeletion(world, hung);
      let lateMs: number;
      let stillThere: number;
      try {
        const frozenUntil = performance.now() + frozenMs;
        await world.pause(500);
        stillThere = (await findLeft(world, hung.ids)).length;
        lateMs = await untilGone(world, hung.ids, hung.dueAt, mostLateMs);
        await world.pause(Math.max(0, frozenUntil - performance.now()));
      } finally {
        await frozen.thaw();
      }
      const handedOver = await createExpiring(world, 20, 6000);
      await world.pause(Math.max(0, handedOver.dueAt - performance.now() + 20));
      const code = await world.node('worker-2').stop();
      const afterStopMs = await untilGone(world, handedOver.ids, handedOver.dueAt, mostLateMs);
      await world.node('worker-2').restart();
      await world.pause(2 * lockMs); // for what might be done a second time
      const { report } = world;
      const rows = await countDeletions(world, [...hung.ids, ...handedOver.ids]);
      const wrong = rows.filter((count) => count !== 1).length;
      report.figure('in the transaction of the worker that hung', `${stillThere} of ${hung.ids.length}`);
      report.figure('all gone after', `${lateMs.toFixed(0)} ms; with a stop ${afterStopMs.toFixed(0)} ms`);
      report.figure('audit rows for each', countKinds(rows));
      report.failIf(stillThere === 0, 'the worker did not hang in the middle of a deletion: nothing was shown');
      const late = [lateMs, afterStopMs].filter((ms) => ms > mostLateMs);
      report.failForEach(late, (ms) => `deleted only after ${ms.toFixed(0)} ms`);
      report.failIf(wrong > 0, `${wrong} deletions have not exactly one audit row`);
      report.failIf(code !== 0, `worker-2 ended with ${code ?? 'a signal'}, not with 0`);
    },
  },
);

type Expiring = Awaited<ReturnType<typeof createExpiring>>;

async function createExpiring({ createApplication }: World, count: number, expiresInMs: number) {
  const dueAt = performance.now() + expiresInMs;
  const expires_at = new Date(Date.now() + expiresInMs).toISOString();
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: 10 }, () => createApplication('Expiring', { permissions, expires_at }));
    for (const { id } of await Promise.all(some)) ids.push(id);
  }
  return { ids, dueAt };
}

/** Freezes the first worker when its transaction has deleted and is not committed; the other one comes a little late. */
async function freezeInDeletion(world: World, { dueAt }: Expiring) {
  const other = world.node('worker-2');
  await using store = await connectPostgres(world.stores.databaseUrl);
  if (performance.now() > dueAt - 300) throw new Error('It took too long to create what expires');
  await world.pause(dueAt - performance.now() - 300);
  other.postgres.stall();
  await store.query('begin');
  try {
    await store.query('lock table counters in share mode'); // each deletion is counted
    if (!(await isWaitedFor(world, 'delete from applications', 8000))) throw new Error('No worker deletes what is due');
    return await world.node('worker-1').freeze();
  } finally {
    await store.query('commit');
    await world.pause(500);
    other.postgres.calm();
  }
}
