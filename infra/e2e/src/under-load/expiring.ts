import { revealing } from '../coherence/client.ts';
import { countDetails, countKinds, elapsedMs, percentile } from './count.ts';
import { type Probing, startProbing } from './probes.ts';
import type { World } from './world.ts';

interface Expiring {
  id: string;
  dueAt: number;
  use: Probing;
}

interface Gone {
  isInTime: boolean;
  /** From when everything was right and all had expired. */
  afterMs: number;
}

/** Sweep interval in this test, to keep it short. The product sweeps every minute and promises 60 s. */
export const sweepIntervalMs = 3000;
/** One interval, as in the promise, plus time for a busy machine. */
const patienceMs = sweepIntervalMs + 12_000;

const usedAfterwardsMs = 2000;
/** Two clocks of one machine that are read as whole milliseconds. */
const roundingMs = 5;
/** Less than any time limit for Redis, but enough to confirm a creation while Redis is unavailable. */
const promptMs = 600;

/** Applications that expire while something fails: from their moment on they are refused, and each is deleted once. */
export function expiringApplications(world: World) {
  const { createApplication, of, report } = world;
  const targets = of('proxy-gateway', 'token-vault');
  const all: Expiring[] = [];
  const waitsMs: number[] = [];
  const create = (more: object) => createApplication('Expiring', { ...revealing('use', 'read'), ...more });

  async function addOne(expiresInMs: number): Promise<void> {
    const usualMs = await elapsedMs(() => create({}));
    const startedAt = performance.now();
    const dueAt = startedAt + expiresInMs;
    const { id, key } = await create({ expires_at: new Date(Date.now() + expiresInMs).toISOString() });
    waitsMs.push(performance.now() - startedAt - usualMs);
    const use = startProbing(world, { key, targets, pauseMs: 240, untilMs: dueAt + usedAfterwardsMs });
    all.push({ id, dueAt, use });
  }

  return {
    /** Creates some that expire after so many milliseconds, and uses their keys until a little later. */
    async add(count: number, expiresInMs: number): Promise<void> {
      await Promise.all(Array.from({ length: count }, () => addOne(expiresInMs)));
    },
    /** To be called when everything is right again: waits until their rows are gone. */
    async untilGone(): Promise<Gone> {
      const everythingRightAt = performance.now();
      await world.pause(Math.max(0, ...all.map(({ dueAt }) => dueAt + usedAfterwardsMs - performance.now())));
      await Promise.all(all.map(({ use }) => use.stop()));
      const from = Math.max(everythingRightAt, ...all.map(({ dueAt }) => dueAt));
      const ids = all.map(({ id }) => id);
      const areGone = async () => (await findLeft(world, ids)).length === 0;
      const isInTime = await world.until(areGone, from + patienceMs - performance.now());
      return { isInTime, afterMs: Math.max(0, performance.now() - from) };
    },
    /** Says what was seen. */
    async check({ isInTime, afterMs }: Gone): Promise<void> {
      const early = all.flatMap(({ use, dueAt }) => use.seen.filter(({ endedAt }) => endedAt < dueAt - roundingMs));
      const late = all.flatMap(({ use, dueAt }) => use.seen.filter(({ startedAt }) => startedAt > dueAt + roundingMs));
      const wait = percentile(waitsMs, 0.5);
      const later = `${wait.toFixed(0)} ms more than others (median)`;
      report.figure('Applications that expired', `${all.length}, created in ${later}`);
      report.failIf(wait > promptMs, `creating an Application that expires waits for Redis: ${Math.round(wait)} ms`);
      report.figure('their use before and after their moment', `${countDetails(early)} / ${countDetails(late)}`);
      const accepted = late.filter(({ detail }) => detail === '200').length;
      report.failIf(accepted > 0, `${accepted} invocations were accepted after the Application expired`);
      const failed = early.filter(({ detail }) => detail !== '200');
      report.failIf(failed.length > 0, `an Application was not served before its moment: ${countDetails(failed)}`);
      const isUnused = early.length === 0 || late.length === 0;
      report.failIf(isUnused, 'no Application was used before and after its moment');
      const inWords = `${(afterMs / 1000).toFixed(1)} s (sweep each ${sweepIntervalMs} ms)`;
      report.figure('rows gone after fault and moment', inWords);
      report.failIf(!isInTime, `expired Applications are still there ${Math.round(afterMs)} ms later`);
      const audited = await countDeletions(
        world,
        all.map(({ id }) => id),
      );
      const wrong = audited.filter((count) => count !== 1).length;
      report.figure('audit rows for each', countKinds(audited));
      report.failIf(wrong > 0, `${wrong} deletions have not exactly one row in the audit log`);
    },
  };
}

const findLeft = ({ query }: World, ids: readonly string[]) =>
  query('select id from applications where id = any($1)', [ids]);

async function countDeletions({ query }: World, ids: readonly string[]): Promise<number[]> {
  const rows = await query<{ count: number }>(
    `select (select count(*)::int from audit_log
             where entity_type = 'application' and operation = 'expire' and entity_id = wanted.id) as count
     from unnest($1::text[]) as wanted(id)`,
    [ids],
  );
  return rows.map(({ count }) => count);
}
