import type { ServiceError } from '@sluice/problems';
import { codeFailed } from './failure.ts';
import { isKill, type Stop } from './thread/outcome.ts';
import type { TransformTask } from './transform-task.ts';

export interface SuspensionOptions {
  /** This many kills within `windowMs` suspend it; 0 never does. */
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

/** Beyond this many transforms, the one that was killed first is forgotten. */
const mostCounters = 10_000;

interface Counter {
  code: string;
  kills: number;
  /** The start of its window, of its suspension, or of the tried run: earlier runs say nothing about a suspension. */
  since: number;
  /** 0 where it is not suspended. */
  suspendedUntil: number;
}

/** Counts kills by code, so new code begins anew. */
export function newSuspensions(options: SuspensionOptions) {
  const { windowMs, suspendMs, clock = () => performance.now() } = options;
  const counters = new Map<string, Counter>();
  const counts = { suspensions: 0, suspendedRuns: 0 };

  function find(task: TransformTask): Counter | undefined {
    const counter = counters.get(keyOf(task));
    if (!counter || counter.code === task.code) return counter;
    counters.delete(keyOf(task));
    return undefined;
  }

  function add(task: TransformTask): Counter {
    const [oldest] = counters.keys();
    if (counters.size >= mostCounters && oldest !== undefined) counters.delete(oldest);
    const counter = { code: task.code, kills: 0, since: clock(), suspendedUntil: 0 };
    counters.set(keyOf(task), counter);
    return counter;
  }

  return {
    counts,
    suspended: (): number => [...counters.values()].filter(({ suspendedUntil }) => suspendedUntil > clock()).length,
    /** After a suspension it lets one run pass. @throws {ServiceError} `transform_failed`, with the seconds to wait. */
    check: (task: TransformTask, askedAt: number): void => {
      const counter = counters.size > 0 ? find(task) : undefined;
      if (!counter || counter.suspendedUntil === 0) return;
      if (counter.suspendedUntil > askedAt) {
        counts.suspendedRuns += 1;
        throw suspended(task, options, counter.suspendedUntil - askedAt);
      }
      Object.assign(counter, { since: askedAt, suspendedUntil: askedAt + suspendMs });
    },
    /** `limit` is what stopped the run, if anything did. @returns whether this suspended the transform. */
    ended: (task: TransformTask, askedAt: number, limit: Stop | undefined): boolean => {
      const wasKilled = options.kills > 0 && isKill(limit);
      const counter = (counters.size > 0 ? find(task) : undefined) ?? (wasKilled ? add(task) : undefined);
      const wasSuspended = counter !== undefined && counter.suspendedUntil > 0;
      if (!counter || (wasSuspended && askedAt < counter.since)) return false;
      if (!wasKilled) {
        if (wasSuspended) counters.delete(keyOf(task));
        return false;
      }
      const now = clock();
      if (!wasSuspended && now - counter.since >= windowMs) Object.assign(counter, { kills: 0, since: now });
      counter.kills += 1;
      if (counter.kills < options.kills) return false;
      Object.assign(counter, { since: now, suspendedUntil: now + suspendMs });
      if (!wasSuspended) counts.suspensions += 1;
      return !wasSuspended;
    },
  };
}

const keyOf = ({ tenantId, ownerId, kind }: TransformTask) => JSON.stringify([tenantId, ownerId, kind]);

function suspended({ kind }: TransformTask, { kills, windowMs }: SuspensionOptions, leftMs: number): ServiceError {
  const seconds = Math.ceil(leftMs / 1000);
  const what = `is suspended: it was stopped ${kills} times within ${windowMs / 1000} s. It is tried again in ${seconds} s, and at once when its code is changed`;
  return codeFailed(kind, what, { retryAfterSeconds: seconds, cause: new TransformSuspended() });
}
