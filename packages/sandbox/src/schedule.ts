import type { Batch } from './batch.ts';
import { isKill, type RunAnswer, type Stop } from './thread/outcome.ts';

/** Quick threads serve everybody; slow threads have the lowest priority for cores and serve slow work. */
export type Group = 'quick' | 'slow';

export type Work = Pick<Batch, 'tenantId' | 'transform'>;

/** CPU time of new code, in milliseconds. Hostile code is always new, so it disturbs others no longer than this. */
const newCodeMs = 50;
/** For this long after a slow run, its Tenant, or the Tenant's new code, is served by slow threads. */
const slowForMs = 60_000;
const mostSlowTenants = 10_000;
/** CPU time of all runs of a batch together. */
const batchMs = 1;
const mostRunsPerBatch = 16;

interface ScheduleOptions {
  clock?: () => number;
  /** As in the options of the pool. */
  everyRunHasSlot?: boolean | undefined;
}

/**
 * Decides whose work is next, from waiting and running work and earlier runs. It only keeps records: it has no timers
 * and starts nothing. A run that uses `slowMs` of CPU time is slow.
 */
export class Schedule<W extends Work> {
  readonly #slowMs: number;
  readonly #everyRunHasSlot: boolean;
  readonly #slowTenants: SlowTenants;
  readonly #slowInNewCode: SlowTenants;
  /** In the order in which Tenants arrived or were served. */
  readonly #waiting = new Map<string, W[]>();
  readonly #running = new Map<W, Group>();
  #waitingCount = 0;

  constructor(slowMs: number, options: ScheduleOptions = {}) {
    const { clock = () => performance.now(), everyRunHasSlot = false } = options;
    this.#slowMs = slowMs;
    this.#everyRunHasSlot = everyRunHasSlot;
    this.#slowTenants = new SlowTenants(clock);
    this.#slowInNewCode = new SlowTenants(clock);
  }

  running(): number {
    return this.#running.size;
  }

  add(work: W): void {
    const works = this.#waiting.get(work.tenantId);
    if (works) works.push(work);
    else this.#waiting.set(work.tenantId, [work]);
    this.#waitingCount += 1;
  }

  /** @returns false where the work does not wait any more. */
  remove(work: W): boolean {
    const works = this.#waiting.get(work.tenantId) ?? [];
    const index = works.indexOf(work);
    if (index === -1) return false;
    works.splice(index, 1);
    this.#waitingCount -= 1;
    if (works.length === 0) this.#waiting.delete(work.tenantId);
    return true;
  }

  /** If more than this many wait, removes the newest work of the Tenant with most, slow Tenants first. */
  evict(most: number): W | undefined {
    if (this.#waitingCount <= most) return undefined;
    const weight = ([tenantId, works]: [string, W[]]) =>
      works.length + (this.#slowTenants.has(tenantId) ? this.#waitingCount : 0);
    const [, longest] = [...this.#waiting].reduce((a, b) => (weight(b) > weight(a) ? b : a));
    const work = longest.at(-1);
    if (work) this.remove(work);
    return work;
  }

  /**
   * The next work for a group of this many threads. The Tenant with the least running work goes first, and among equals
   * the one that was served longest ago.
   */
  next(group: Group, threads: number): W | undefined {
    const runningHere = [...this.#running.keys()].filter((work) => this.#running.get(work) === group);
    const newCode = group === 'quick' ? runningHere.filter(isNew) : [];
    let least = Math.max(threads - 1, 1); // One Tenant leaves a thread to the others.
    let next: W | undefined;
    for (const tenantId of this.#waiting.keys()) {
      const held = countOf(tenantId, runningHere);
      if (held >= least) continue;
      // New code leaves one thread to known code, and each Tenant's new code leaves another to the new code of others
      const mayStartNew =
        this.#everyRunHasSlot ||
        newCode.length === 0 ||
        (newCode.length < threads - 1 && countOf(tenantId, newCode) < threads - 2);
      const work = this.#firstOf(tenantId, group, mayStartNew);
      if (work) [least, next] = [held, work];
      if (least === 0) break;
    }
    if (!next) return undefined;
    this.remove(next);
    const rest = this.#waiting.get(next.tenantId);
    if (rest) {
      this.#waiting.delete(next.tenantId); // to move it to the end of the Map
      this.#waiting.set(next.tenantId, rest);
    }
    this.#running.set(next, group);
    return next;
  }

  release(work: W): void {
    this.#running.delete(work);
  }

  /**
   * Learns from the end of a run; the answer is undefined if the run killed its thread. @returns whether from now on
   * the slow threads serve its Tenant, or the Tenant's new code.
   */
  ended({ tenantId, transform }: Work, answer: RunAnswer | undefined, limit?: Stop): boolean {
    if (limit === 'memoryWait') return false; // Others had the memory.
    const wasSlow = !answer || answer.cpuMs >= this.#slowMs || isKill(limit);
    const wasQuick = !wasSlow && !answer.isCut && answer.outcome.kind !== 'slow';
    if (wasQuick) transform.runsPerBatch = runsThatFit(answer);
    else (wasSlow ? this.#slowTenants : this.#slowInNewCode).add(tenantId);
    return !wasQuick;
  }

  /** The CPU time after which a run in a quick thread begins again in a slow one. */
  quickMs(work: Work): number {
    return isNew(work) ? Math.min(newCodeMs, this.#slowMs) : this.#slowMs;
  }

  /** Whether a run of this Tenant was slow within the last minute. */
  isSlow(tenantId: string): boolean {
    return this.#slowTenants.has(tenantId);
  }

  runsPerBatch({ tenantId, transform }: Work): number {
    return this.isSlow(tenantId) ? 1 : Math.max(transform.runsPerBatch, 1);
  }

  /** The oldest work of a Tenant that may start in a group. */
  #firstOf(tenantId: string, group: Group, mayStartNew: boolean): W | undefined {
    const isSlow = this.isSlow(tenantId);
    const isSlowInNewCode = this.#slowInNewCode.has(tenantId);
    return this.#waiting.get(tenantId)?.find((work) => {
      const groupOfWork = isSlow || (isSlowInNewCode && isNew(work)) ? 'slow' : 'quick';
      return groupOfWork === group && (mayStartNew || !isNew(work));
    });
  }
}

/** Code is known once a run of it was quick. */
const isNew = ({ transform }: Work) => transform.runsPerBatch === 0;

const countOf = (tenantId: string, works: readonly Work[]) => works.filter((work) => work.tenantId === tenantId).length;

/** A run that called the client goes alone, because others would wait for the answers to its calls. */
function runsThatFit({ cpuMs, hostCalls }: RunAnswer): number {
  if (hostCalls > 0) return 1;
  return Math.min(Math.max(Math.floor(batchMs / cpuMs), 1), mostRunsPerBatch);
}

/** Tenants that were slow within the last minute. If there are too many, drops the one whose minute ends first. */
class SlowTenants {
  readonly #clock: () => number;
  readonly #slowUntil = new Map<string, number>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  has(tenantId: string): boolean {
    return (this.#slowUntil.get(tenantId) ?? 0) > this.#clock();
  }

  add(tenantId: string): void {
    this.#slowUntil.delete(tenantId); // to move it to the end of the Map
    this.#slowUntil.set(tenantId, this.#clock() + slowForMs);
    const [first] = this.#slowUntil.keys();
    if (this.#slowUntil.size > mostSlowTenants && first !== undefined) this.#slowUntil.delete(first);
  }
}
