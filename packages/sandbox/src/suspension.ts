import type { ServiceError } from '@sluice/problems';
import { codeFailed } from './failure.ts';
import { isKill, type Stop } from './thread/outcome.ts';
import type { TransformTask } from './transform-task.ts';

export interface SuspensionOptions {
  /** This many kills within `windowMs` suspend it; with 0 it is never suspended. */
  kills: number;
  windowMs: number;
  /** After this time one run is tried. */
  suspendMs: number;
  clock?: () => number;
}

export const defaultSuspension: Readonly<SuspensionOptions> = Object.freeze({
  kills: 10,
  windowMs: 60_000,
  suspendMs: 30_000,
});

export type SuspendedTransform = Pick<TransformTask, 'tenantId' | 'ownerId' | 'kind'>;

/** The `cause` of the error while a transform is suspended. */
export class TransformSuspended extends Error {
  constructor() {
    super('The transform is suspended');
    this.name = 'TransformSuspended';
  }
}

/** Beyond this many transforms, the one that was killed first is dropped. */
const mostCounters = 10_000;

interface Counter {
  code: string;
  kills: number;
  /** The start of its window, of its suspension, or of the tried run: earlier runs say nothing about a suspension. */
  since: number;
  /** 0 if it is not suspended. */
  suspendedUntil: number;
}

/** Counts kills by code, so new code begins anew. */
export class Suspensions {
  readonly counts = { suspensions: 0, suspendedRuns: 0 };
  readonly #options: SuspensionOptions;
  readonly #clock: () => number;
  readonly #counters = new Map<string, Counter>();

  constructor(options: SuspensionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  suspended(): number {
    return [...this.#counters.values()].filter(({ suspendedUntil }) => suspendedUntil > this.#clock()).length;
  }

  /** After a suspension it lets one run pass. @throws {ServiceError} `transform_failed`, with the seconds to wait. */
  check(task: TransformTask, askedAt: number): void {
    const counter = this.#counters.size > 0 ? this.#find(task) : undefined;
    if (!counter || counter.suspendedUntil === 0) return;
    if (counter.suspendedUntil > askedAt) {
      this.counts.suspendedRuns += 1;
      throw suspended(task, this.#options, counter.suspendedUntil - askedAt);
    }
    Object.assign(counter, { since: askedAt, suspendedUntil: askedAt + this.#options.suspendMs });
  }

  /** `limit` is what stopped the run, if anything did. @returns whether this suspended the transform. */
  ended(task: TransformTask, askedAt: number, limit: Stop | undefined): boolean {
    const { kills, windowMs, suspendMs } = this.#options;
    const wasKilled = kills > 0 && isKill(limit);
    const counter =
      (this.#counters.size > 0 ? this.#find(task) : undefined) ?? (wasKilled ? this.#add(task) : undefined);
    const wasSuspended = counter !== undefined && counter.suspendedUntil > 0;
    if (!counter || (wasSuspended && askedAt < counter.since)) return false;
    if (!wasKilled) {
      if (wasSuspended) this.#counters.delete(keyOf(task));
      return false;
    }
    const now = this.#clock();
    if (!wasSuspended && now - counter.since >= windowMs) Object.assign(counter, { kills: 0, since: now });
    counter.kills += 1;
    if (counter.kills < kills) return false;
    Object.assign(counter, { since: now, suspendedUntil: now + suspendMs });
    if (!wasSuspended) this.counts.suspensions += 1;
    return !wasSuspended;
  }

  #find(task: TransformTask): Counter | undefined {
    const counter = this.#counters.get(keyOf(task));
    if (!counter || counter.code === task.code) return counter;
    this.#counters.delete(keyOf(task));
    return undefined;
  }

  #add(task: TransformTask): Counter {
    const [oldest] = this.#counters.keys();
    if (this.#counters.size >= mostCounters && oldest !== undefined) this.#counters.delete(oldest);
    const counter = { code: task.code, kills: 0, since: this.#clock(), suspendedUntil: 0 };
    this.#counters.set(keyOf(task), counter);
    return counter;
  }
}

const keyOf = ({ tenantId, ownerId, kind }: TransformTask) => JSON.stringify([tenantId, ownerId, kind]);

function suspended({ kind }: TransformTask, { kills, windowMs }: SuspensionOptions, leftMs: number): ServiceError {
  const seconds = Math.ceil(leftMs / 1000);
  const what = `is suspended: it was stopped ${kills} times within ${windowMs / 1000} s. It can run again in ${seconds} s, or as soon as its code is changed`;
  return codeFailed(kind, what, { retryAfterSeconds: seconds, cause: new TransformSuspended() });
}
