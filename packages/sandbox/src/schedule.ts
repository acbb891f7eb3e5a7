import type { RunAnswer, Stop } from './thread/outcome.ts';

/** The quick threads serve everybody; the slow threads, which the operating system puts last, serve what is slow. */
export type Group = 'quick' | 'slow';

/** Something that waits for a thread: a batch of runs, or code that is to be parsed. */
export interface Work {
  readonly tenantId: string;
  readonly code: string;
}

/** Code is known once a run of it was quick, and slow while it, or its Tenant, needed much time a short while ago. */
export type CodeClass = 'known' | 'new' | 'slow';

export interface ScheduleOptions {
  /** Threads of each group that one Tenant may hold at a time. */
  tenantThreads: Record<Group, number>;
  /** Most work that may wait for each group. */
  queueLimit: number;
  /** A run that uses this much CPU time, in milliseconds, is slow. */
  slowMs: number;
  /** Milliseconds; `performance.now` without it. */
  clock?: () => number;
}

/** CPU time of new code, in milliseconds: hostile code is always new, and disturbs others no longer than this. */
const newCodeMs = 50;
/** For how long a Tenant, or its new code, is slow after a slow run. */
const slowForMs = 60_000;
/** A run reaches these limits only after it has held its thread for long, or has lost it. */
const slowStops: readonly Stop[] = ['cpuMs', 'wallMs', 'heapBytes', 'crashed'];
const mostTenants = 10_000;
/** UTF-16 units of all known code together. */
const mostCodeUnits = 8 * 2 ** 20;
/** CPU time, in milliseconds, of all runs of a batch together. */
const batchMs = 1;
const mostRunsPerBatch = 16;

interface Lane<W> {
  waiting: W[];
  running: number;
  /** Of these, the work that was new when it started. */
  runningNew: Set<W>;
  /** Rises with each work that was started; 0 where none was. */
  servedAt: number;
}

interface Tenant<W> extends Record<Group, Lane<W>> {
  slowUntil: number;
  newCodeSlowUntil: number;
  /** For each known code: how many of its runs may share a batch. */
  known: Map<string, number>;
  /** UTF-16 units of this Tenant's known code. */
  codeUnits: number;
}

/**
 * Decides whose work is next, from what waits, what runs, and how earlier runs went. It is pure bookkeeping: it has no
 * timer, and starts nothing itself.
 */
export function newSchedule<W extends Work>(options: ScheduleOptions) {
  const { tenantThreads, queueLimit, slowMs, clock = () => performance.now() } = options;
  const tenants = new Map<string, Tenant<W>>();
  /** The lanes in which work waits, so that `next` does not look at every Tenant it remembers. */
  const lanes: Record<Group, Set<Lane<W>>> = { quick: new Set(), slow: new Set() };
  const waiting: Record<Group, number> = { quick: 0, slow: 0 };
  const running: Record<Group, number> = { quick: 0, slow: 0 };
  let runningNew = 0;
  let lastServed = 0;
  let codeUnits = 0;

  function tenantOf(tenantId: string): Tenant<W> {
    const found = tenants.get(tenantId);
    if (found) return found;
    if (tenants.size >= mostTenants) forgetOldest();
    const tenant: Tenant<W> = { quick: newLane(), slow: newLane(), slowUntil: 0, newCodeSlowUntil: 0, ...noCode() };
    tenants.set(tenantId, tenant);
    return tenant;
  }

  /** Keeps the Tenants that have work, because their share would be counted wrongly otherwise. */
  function forgetOldest(): void {
    for (const [tenantId, tenant] of tenants) {
      if (!isIdle(tenant.quick) || !isIdle(tenant.slow)) continue;
      codeUnits -= tenant.codeUnits;
      tenants.delete(tenantId);
      return;
    }
  }

  /** The code of the Tenant with the most is forgotten first, so that nobody makes others lose theirs. */
  function learnCode(tenant: Tenant<W>, code: string, answer: RunAnswer): void {
    if (!tenant.known.has(code)) {
      while (codeUnits > 0 && codeUnits + code.length > mostCodeUnits) {
        const largest = [...tenants.values()].reduce((a, b) => (b.codeUnits > a.codeUnits ? b : a));
        codeUnits -= largest.codeUnits;
        Object.assign(largest, noCode());
      }
      codeUnits += code.length;
      tenant.codeUnits += code.length;
    }
    tenant.known.set(code, runsThatFit(answer));
  }

  function classOf({ tenantId, code }: Work): CodeClass {
    const tenant = tenants.get(tenantId);
    if (!tenant) return 'new';
    const isKnown = tenant.known.has(code);
    if (Math.max(tenant.slowUntil, isKnown ? 0 : tenant.newCodeSlowUntil) > clock()) return 'slow';
    return isKnown ? 'known' : 'new';
  }

  function enqueue(work: W, group: Group): void {
    const lane = tenantOf(work.tenantId)[group];
    lane.waiting.push(work);
    lanes[group].add(lane);
    waiting[group] += 1;
  }

  function dequeue(lane: Lane<W>, group: Group, index: number): W | undefined {
    const [work] = lane.waiting.splice(index, 1);
    if (work) waiting[group] -= 1;
    if (lane.waiting.length === 0) lanes[group].delete(lane);
    return work;
  }

  /** Removes work that waits; false where it does not wait any more. */
  function remove(work: W): boolean {
    for (const group of groups) {
      const lane = tenantOf(work.tenantId)[group];
      const index = lane.waiting.indexOf(work);
      if (index !== -1) return dequeue(lane, group, index) === work;
    }
    return false;
  }

  /** Moves what waits for a quick thread and is slow by now. */
  function moveSlow({ quick }: Tenant<W>): W[] {
    const moved = quick.waiting.filter((work) => classOf(work) === 'slow');
    for (const work of moved) {
      remove(work);
      enqueue(work, 'slow');
    }
    return moved;
  }

  return {
    classOf,
    remove,
    /** How much work of a group waits. */
    waiting: (group: Group): number => waiting[group],
    /** How much work has a thread, of one group or of both. */
    running: (group?: Group): number => (group ? running[group] : running.quick + running.slow),
    /** Adds work to the group of its class. */
    add: (work: W): Group => {
      const group = classOf(work) === 'slow' ? 'slow' : 'quick';
      enqueue(work, group);
      return group;
    },
    /** Removes the newest work of the Tenant with most waiting, where more waits for the group than may. */
    evict: (group: Group): W | undefined => {
      if (waiting[group] <= queueLimit) return undefined;
      const longest = [...lanes[group]].reduce((a, b) => (b.waiting.length > a.waiting.length ? b : a));
      return dequeue(longest, group, longest.waiting.length - 1);
    },
    /** Removes all work that waits. */
    removeAll: (): W[] => {
      const all = groups.flatMap((group) => [...lanes[group]].flatMap((lane) => lane.waiting));
      for (const work of all) remove(work);
      return all;
    },
    /** The work that starts now in a group of this many threads; undefined where none may. */
    next: (group: Group, threads: number): W | undefined => {
      // One quick thread is left to known code, so that new code cannot hold up the others; of one Tenant, two are left.
      const mayBeNew = (lane: Lane<W>) =>
        group === 'slow' || (runningNew < Math.max(threads - 1, 1) && lane.runningNew.size < Math.max(threads - 2, 1));
      let first: { lane: Lane<W>; index: number } | undefined;
      for (const lane of lanes[group]) {
        if (lane.running >= tenantThreads[group] || (first && !goesBefore(lane, first.lane))) continue;
        const index = mayBeNew(lane) ? 0 : lane.waiting.findIndex((work) => classOf(work) === 'known');
        if (index !== -1) first = { lane, index };
      }
      const work = first && dequeue(first.lane, group, first.index);
      if (!work || !first) return undefined;
      lastServed += 1;
      first.lane.servedAt = lastServed;
      first.lane.running += 1;
      running[group] += 1;
      if (group === 'quick' && classOf(work) === 'new') {
        first.lane.runningNew.add(work);
        runningNew += 1;
      }
      return work;
    },
    /** Work that `next` gave has left its thread. */
    release: (work: W, group: Group): void => {
      const lane = tenantOf(work.tenantId)[group];
      lane.running -= 1;
      running[group] -= 1;
      if (lane.runningNew.delete(work)) runningNew -= 1;
    },
    /**
     * Learns from the end of a run: its answer, undefined where its thread ended with it, and the limit that stopped it.
     * Returns the work that moved to the slow group because of it.
     */
    ended: ({ tenantId, code }: Work, answer: RunAnswer | undefined, limit?: Stop): W[] => {
      const tenant = tenantOf(tenantId);
      const isSlow = !answer || answer.cpuMs >= slowMs || (limit !== undefined && slowStops.includes(limit));
      if (!isSlow && !answer.isCut && answer.outcome.kind !== 'slow') {
        learnCode(tenant, code, answer);
        return [];
      }
      tenant[isSlow ? 'slowUntil' : 'newCodeSlowUntil'] = clock() + slowForMs;
      return moveSlow(tenant);
    },
    /** The CPU time, in milliseconds, after which a run in a quick thread has to begin again in a slow one. */
    quickMs: (work: Work): number => (classOf(work) === 'known' ? slowMs : Math.min(newCodeMs, slowMs)),
    /** How many runs of the code may share a batch, judged by what its last run took. */
    runsPerBatch: ({ tenantId, code }: Work): number => {
      const tenant = tenants.get(tenantId);
      return tenant && tenant.slowUntil <= clock() ? (tenant.known.get(code) ?? 1) : 1;
    },
  };
}

export type Schedule<W extends Work> = ReturnType<typeof newSchedule<W>>;

const groups: readonly Group[] = ['quick', 'slow'];

const noCode = () => ({ known: new Map<string, number>(), codeUnits: 0 });

const newLane = <W>(): Lane<W> => ({ waiting: [], running: 0, runningNew: new Set(), servedAt: 0 });

const isIdle = <W>(lane: Lane<W>) => lane.running === 0 && lane.waiting.length === 0;

/** The Tenant with the least running goes first, among equals the one that was served longest ago. */
const goesBefore = <W>(a: Lane<W>, b: Lane<W>) => (a.running - b.running || a.servedAt - b.servedAt) < 0;

/** A run that called the client goes alone, because the others would wait for the answers to its calls. */
function runsThatFit({ cpuMs, hostCalls }: RunAnswer): number {
  if (hostCalls > 0) return 1;
  return Math.min(Math.max(Math.floor(batchMs / cpuMs), 1), mostRunsPerBatch);
}
