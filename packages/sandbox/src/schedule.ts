import type { Transform } from './batch.ts';
import type { RunAnswer, Stop } from './thread/outcome.ts';

/** Quick threads serve everybody; slow threads, to which the operating system gives the cores last, serve slow work. */
export type Group = 'quick' | 'slow';

/** A batch of runs, or code to parse. */
export interface Work {
  readonly tenantId: string;
  readonly transform: Transform;
}

export interface ScheduleOptions {
  tenantThreads: Record<Group, number>;
  queueLimit: number;
  /** A run that uses this much CPU time, in milliseconds, is slow. */
  slowMs: number;
  /** Default: `performance.now`. */
  clock?: () => number;
}

/** CPU time of new code, in milliseconds. Hostile code is always new, and disturbs others no longer than this. */
const newCodeMs = 50;
/** A Tenant, or its new code, stays slow for this long after a slow run. */
const slowForMs = 60_000;
const mostSlowTenants = 10_000;
/** A run reaches these limits only after it has held its thread for long, or has lost it. */
const slowStops: readonly Stop[] = ['cpuMs', 'wallMs', 'heapBytes', 'crashed'];
/** CPU time of all runs of a batch together. */
const batchMs = 1;
const mostRunsPerBatch = 16;

interface Lane<W> {
  waiting: W[];
  running: Record<Group, number>;
}

/**
 * Decides whose work is next, by what waits and runs and by how earlier runs went. It is pure bookkeeping, without timers,
 * and starts nothing itself.
 */
export function newSchedule<W extends Work>({ tenantThreads, queueLimit, slowMs, clock }: ScheduleOptions) {
  /** In the order in which Tenants came or were served. Tenants without work are not in it. */
  const lanes = new Map<string, Lane<W>>();
  const slowTenants = newSlowTenants(clock);
  const slowInNewCode = newSlowTenants(clock);
  const runningNew = new Set<W>();
  let waiting = 0;
  let running = 0;

  /** New code leaves one quick thread to known code, and new code of one Tenant leaves another to new code of others. */
  function mayStart(work: W, threads: number): boolean {
    if (isKnown(work.transform) || runningNew.size === 0) return true;
    const own = [...runningNew].filter(({ tenantId }) => tenantId === work.tenantId);
    return runningNew.size < threads - 1 && own.length < threads - 2;
  }

  const isSlow = ({ tenantId, transform }: W) =>
    slowTenants.has(tenantId) || (!isKnown(transform) && slowInNewCode.has(tenantId));

  /** The oldest work of a Tenant that a group of this many threads may start. */
  function firstOf(tenantId: string, lane: Lane<W>, group: Group, threads: number): W | undefined {
    if (group === 'quick') {
      if (slowTenants.has(tenantId)) return undefined; // without a look at all of its work
      return lane.waiting.find((work) => !isSlow(work) && mayStart(work, threads));
    }
    return slowTenants.has(tenantId) || slowInNewCode.has(tenantId) ? lane.waiting.find(isSlow) : undefined;
  }

  function remove(work: W): boolean {
    const lane = lanes.get(work.tenantId);
    const index = lane?.waiting.indexOf(work) ?? -1;
    if (!lane || index === -1) return false;
    lane.waiting.splice(index, 1);
    waiting -= 1;
    forgetIfIdle(work.tenantId, lane);
    return true;
  }

  function forgetIfIdle(tenantId: string, { waiting, running }: Lane<W>): void {
    if (waiting.length + running.quick + running.slow === 0) lanes.delete(tenantId);
  }

  return {
    running: (): number => running,
    add: (work: W): void => {
      const lane = lanes.get(work.tenantId) ?? { waiting: [], running: { quick: 0, slow: 0 } };
      lanes.set(work.tenantId, lane);
      lane.waiting.push(work);
      waiting += 1;
    },
    /** False where the work does not wait any more. */
    remove,
    /** Beyond the limit it removes the newest work of the Tenant with most waiting work, slow Tenants first. */
    evict: (): W | undefined => {
      if (waiting <= queueLimit) return undefined;
      const weight = ([tenantId, lane]: [string, Lane<W>]) =>
        lane.waiting.length + (lane.waiting.length > 0 && slowTenants.has(tenantId) ? queueLimit : 0);
      const [, { waiting: longest }] = [...lanes].reduce((a, b) => (weight(b) > weight(a) ? b : a));
      const work = longest.at(-1);
      if (work) remove(work);
      return work;
    },
    removeAll: (): W[] => {
      const all = [...lanes.values()].flatMap((lane) => lane.waiting);
      for (const work of all) remove(work);
      return all;
    },
    /**
     * The work that starts now in a group of this many threads. The Tenant with the least running work goes first, and
     * among equals the one that was served longest ago.
     */
    next: (group: Group, threads: number): W | undefined => {
      let least = tenantThreads[group];
      let found: { lane: Lane<W>; work: W } | undefined;
      for (const [tenantId, lane] of lanes) {
        const work = lane.running[group] < least && firstOf(tenantId, lane, group, threads);
        if (!work) continue;
        least = lane.running[group];
        found = { lane, work };
      }
      if (!found) return undefined;
      const { lane, work } = found;
      lane.running[group] += 1;
      running += 1;
      remove(work);
      lanes.delete(work.tenantId); // so that it is the last in the order of the Map
      lanes.set(work.tenantId, lane);
      if (group === 'quick' && !isKnown(work.transform)) runningNew.add(work);
      return work;
    },
    release: (work: W, group: Group): void => {
      const lane = lanes.get(work.tenantId);
      if (!lane) return;
      lane.running[group] -= 1;
      running -= 1;
      runningNew.delete(work);
      forgetIfIdle(work.tenantId, lane);
    },
    /**
     * Learns from the end of a run; the answer is undefined where the run ended its thread. @returns whether the slow
     * threads serve its Tenant, or the Tenant's new code, from now on.
     */
    ended: ({ tenantId, transform }: W, answer: RunAnswer | undefined, limit?: Stop): boolean => {
      const wasSlow = !answer || answer.cpuMs >= slowMs || (limit !== undefined && slowStops.includes(limit));
      const wasQuick = !wasSlow && !answer.isCut && answer.outcome.kind !== 'slow';
      if (wasQuick) transform.runsPerBatch = runsThatFit(answer);
      else (wasSlow ? slowTenants : slowInNewCode).add(tenantId);
      return !wasQuick;
    },
    /** The CPU time after which a run in a quick thread begins again in a slow one. */
    quickMs: ({ transform }: W): number => (isKnown(transform) ? slowMs : Math.min(newCodeMs, slowMs)),
    runsPerBatch: ({ tenantId, transform }: Work): number =>
      isKnown(transform) && !slowTenants.has(tenantId) ? transform.runsPerBatch : 1,
  };
}

export type Schedule<W extends Work> = ReturnType<typeof newSchedule<W>>;

/** Code is known once a run of it was quick. */
const isKnown = ({ runsPerBatch }: Transform) => runsPerBatch > 0;

/** A run that called the client goes alone, because the others would wait for the answers to its calls. */
function runsThatFit({ cpuMs, hostCalls }: RunAnswer): number {
  if (hostCalls > 0) return 1;
  return Math.min(Math.max(Math.floor(batchMs / cpuMs), 1), mostRunsPerBatch);
}

/** Tenants that were slow within the last minute. Of too many, the one whose minute ends first is forgotten. */
function newSlowTenants(clock = () => performance.now()) {
  const slowUntil = new Map<string, number>();
  return {
    has: (tenantId: string): boolean => (slowUntil.get(tenantId) ?? 0) > clock(),
    add: (tenantId: string): void => {
      slowUntil.delete(tenantId); // so that it is the last in the order of the Map
      slowUntil.set(tenantId, clock() + slowForMs);
      const [first] = slowUntil.keys();
      if (slowUntil.size > mostSlowTenants && first !== undefined) slowUntil.delete(first);
    },
  };
}
