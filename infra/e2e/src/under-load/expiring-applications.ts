import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Site } from '../cluster/site.ts';
import { countBy } from './count.ts';
import { openProbes, type Probed } from './probes.ts';
import type { Disturbance } from './run-under-load.ts';
import type { World } from './world.ts';

export interface ExpiringApplications {
  /** Creates some that expire after so many milliseconds, and uses their keys until a little later. */
  add(count: number, expiresInMs: number): Promise<void>;
  /** To be called when everything is right again: waits until their rows are gone, and says what was seen. */
  check(everythingRightAt: number): Promise<Disturbance>;
}

interface Expiring {
  id: string;
  dueAt: number;
  seen: readonly Probed[];
}

/** The row promises that the sweep catches up within this time, where it comes every minute. */
const promisedMs = 60_000;
/** How often it comes here, so that the test is short. */
export const sweepIntervalMs = 3000;
/** As many intervals as the promise has, and a machine that has other things to do. */
const patienceMs = sweepIntervalMs + 12_000;

const usedAfterwardsMs = 2000;
/** Two clocks of one machine that are read as whole milliseconds. */
const roundingMs = 5;
/** Less than any patience with Redis; every creation waits until it is confirmed, which takes longer without Redis. */
const promptMs = 600;

const permissions = ['token:use', 'token:read'];
const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions };

/** Applications that expire while something fails: from their moment on they are refused, and each is deleted once. */
export function createExpiringApplications(world: World): ExpiringApplications {
  const { site, manage, of } = world;
  const targets = [...of('proxy-gateway'), ...of('token-vault')];
  const all: Expiring[] = [];
  const waitsMs: number[] = [];
  const create = (body: object) =>
    manage('POST', '/applications', { name: 'Expiring', type: 'private', rules: [rule], ...body });
  const probing: ReturnType<typeof openProbes>[] = [];

  async function addOne(expiresInMs: number): Promise<void> {
    const beganAt = performance.now();
    await create({});
    const startedAt = performance.now();
    const dueAt = startedAt + expiresInMs;
    const { id, key } = await create({ expires_at: new Date(Date.now() + expiresInMs).toISOString() });
    waitsMs.push(performance.now() - startedAt - (startedAt - beganAt));
    const probes = openProbes(world);
    probing.push(probes);
    probes.start(key, targets, dueAt + usedAfterwardsMs);
    all.push({ id, dueAt, seen: probes.seen });
  }

  return {
    async add(count, expiresInMs) {
      await Promise.all(Array.from({ length: count }, () => addOne(expiresInMs)));
    },
    async check(everythingRightAt) {
      await Promise.all(probing.map((probes) => probes.done()));
      await Promise.all(probing.map((probes) => probes.stop()));
      const ids = all.map(({ id }) => id);
      const from = Math.max(everythingRightAt, ...all.map(({ dueAt }) => dueAt));
      const goneAfterMs = await untilGone(site, ids, from);
      const { rows, auditRows } = await look(site, ids);
      const judged = all.map((one) => judge(one));
      const early = judged.flatMap((one) => one.early);
      const late = judged.flatMap((one) => one.late);
      const failed = early.filter(({ detail }) => detail !== '200');
      const accepted = late.filter(({ detail }) => detail === '200');
      const wait = waitsMs.toSorted((a, b) => a - b)[Math.floor(waitsMs.length / 2)] ?? 0;
      const wrongAudits = ids.filter((id) => auditRows.get(id) !== 1);
      return {
        figures: [
          ['Applications that expired', `${all.length}, created in ${wait.toFixed(0)} ms more than others (median)`],
          ['their use before and after their moment', `${countBy(early, detailOf)} / ${countBy(late, detailOf)}`],
          [
            'rows gone after fault and moment',
            `${(goneAfterMs / 1000).toFixed(1)} s (sweep each ${sweepIntervalMs / 1000} s; 60 s by default)`,
          ],
          ['audit rows for each', countBy(ids, (id) => String(auditRows.get(id) ?? 0))],
        ],
        failures: [
          ...(accepted.length > 0
            ? [`${accepted.length} invocations were accepted after the Application expired`]
            : []),
          ...(failed.length > 0
            ? [`an Application was not served before its moment: ${countBy(failed, detailOf)}`]
            : []),
          ...(early.length === 0 || late.length === 0 ? ['no Application was used before and after its moment'] : []),
          ...(rows > 0 ? [`${rows} expired Applications are still there ${Math.round(goneAfterMs)} ms later`] : []),
          ...(wrongAudits.length > 0
            ? [`${wrongAudits.length} deletions have not exactly one row in the audit log`]
            : []),
          ...(wait > promptMs ? [`creating an Application that expires waits for Redis: ${Math.round(wait)} ms`] : []),
        ],
      };
    },
  };
}

const detailOf = ({ detail }: Probed) => detail;

/** Those that had their answer before the moment, and those that were sent after it. */
function judge({ dueAt, seen }: Expiring): { early: Probed[]; late: Probed[] } {
  return {
    early: seen.filter(({ endedAt }) => endedAt < dueAt - roundingMs),
    late: seen.filter(({ startedAt }) => startedAt > dueAt + roundingMs),
  };
}

/** @returns how long after the moment all of them were gone, or how long it waited for that. */
async function untilGone(site: Site, ids: readonly string[], from: number): Promise<number> {
  for (;;) {
    const { rows } = await look(site, ids);
    const elapsed = Math.max(0, performance.now() - from);
    if (rows === 0 || elapsed > Math.min(patienceMs, promisedMs)) return elapsed;
    await pause(200);
  }
}

async function look({ stores }: Site, ids: readonly string[]) {
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  try {
    const applications = await client.query('select from applications where id = any($1)', [ids]);
    const audit = await client.query<{ id: string; count: number }>(
      `select entity_id as id, count(*)::int as count from audit_log
       where entity_type = 'application' and operation = 'expire' and entity_id = any($1) group by entity_id`,
      [ids],
    );
    return {
      rows: applications.rowCount ?? 0,
      auditRows: new Map(audit.rows.map(({ id, count }) => [id, count])),
    };
  } finally {
    await client.end();
  }
}
