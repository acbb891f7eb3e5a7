import { ServiceError } from '@sluice/problems';
import type { Stop } from './thread/outcome.ts';
import type { TransformTask } from './transform-task.ts';

/** When a transform that keeps being killed is given a rest. */
export interface BreakerOptions {
  /** So many kills within `windowMs` open the breaker; 0: it never opens. */
  kills: number;
  windowMs: number;
  /** How long nothing is run before one run is tried again. */
  openMs: number;
  /** Milliseconds; `performance.now` without it. */
  clock?: () => number;
}

export const defaultBreaker: Readonly<BreakerOptions> = Object.freeze({ kills: 10, windowMs: 60_000, openMs: 30_000 });

export type BrokenTransform = Pick<TransformTask, 'tenantId' | 'proxyId' | 'kind'>;

/** Counts the kills of each version of each transform's code. */
export interface Breaker {
  /** Transforms that are not run now. */
  readonly open: number;
  /** How often one was opened. */
  readonly trips: number;
  /** Runs that were refused. */
  readonly refusals: number;
  /** @throws {ServiceError} `transform_failed` with seconds to wait, while the breaker of this code is open. */
  check(task: TransformTask): void;
  /** A run ended; `limit` where one stopped it. True when this opened the breaker. */
  ended(task: TransformTask, limit: Stop | undefined): boolean;
}

/** Those that cost a thread its time or its memory; the others are found at once. */
const kills: readonly (Stop | undefined)[] = ['cpuMs', 'wallMs', 'heapBytes', 'crashed'];
/** More transforms than this do not go wrong at a time; the one that was killed first is forgotten. */
const mostEntries = 10_000;

interface Entry {
  code: string;
  killedAt: number[];
  openUntil: number | undefined;
  /** The run that is to show whether it still must be killed. */
  trial: TransformTask | undefined;
}

export function newBreaker(options: BreakerOptions): Breaker {
  const { windowMs, openMs, clock = () => performance.now() } = options;
  const entries = new Map<string, Entry>();
  let trips = 0;
  let refusals = 0;

  /** The entry of this version of the code; one of another version is dropped. */
  function find(task: TransformTask): Entry | undefined {
    const entry = entries.get(keyOf(task));
    if (!entry || entry.code === task.code) return entry;
    entries.delete(keyOf(task));
    return undefined;
  }

  function add(task: TransformTask): Entry {
    const [oldest] = entries.keys();
    if (entries.size >= mostEntries && oldest !== undefined) entries.delete(oldest);
    const entry: Entry = { code: task.code, killedAt: [], openUntil: undefined, trial: undefined };
    entries.set(keyOf(task), entry);
    return entry;
  }

  return {
    get open() {
      const now = clock();
      return [...entries.values()].filter(({ openUntil }) => openUntil !== undefined && openUntil > now).length;
    },
    get trips() {
      return trips;
    },
    get refusals() {
      return refusals;
    },
    check: (task) => {
      if (entries.size === 0) return;
      const entry = find(task);
      if (entry?.openUntil === undefined) return;
      const leftMs = entry.openUntil - clock();
      if (leftMs > 0) {
        refusals += 1;
        throw suspended(options.kills, windowMs, leftMs);
      }
      // One is tried; meanwhile the others are refused on.
      entry.openUntil = clock() + openMs;
      entry.trial = task;
    },
    ended: (task, limit) => {
      if (options.kills === 0) return false;
      const isKill = kills.includes(limit);
      if (entries.size === 0 && !isKill) return false;
      const entry = find(task) ?? (isKill ? add(task) : undefined);
      if (!entry || (entry.openUntil !== undefined && entry.trial !== task)) return false;
      if (!isKill) {
        // What was killed now and then, and ran well in between, still counts within the window.
        if (entry.trial === task) entries.delete(keyOf(task));
        return false;
      }
      const now = clock();
      const wasOpen = entry.openUntil !== undefined;
      entry.killedAt = [...entry.killedAt, now].filter((at) => at > now - windowMs).slice(-options.kills);
      if (!wasOpen && entry.killedAt.length < options.kills) return false;
      entry.openUntil = now + openMs;
      entry.trial = undefined;
      if (!wasOpen) trips += 1;
      return !wasOpen;
    },
  };
}

const keyOf = ({ tenantId, proxyId, kind }: TransformTask) => JSON.stringify([tenantId, proxyId, kind]);

function suspended(count: number, windowMs: number, leftMs: number): ServiceError {
  const seconds = Math.ceil(leftMs / 1000);
  const detail = `The transform is suspended: it was stopped ${count} times within ${windowMs / 1000} s. It is tried again in ${seconds} s, and at once when its code is changed`;
  return new ServiceError('transform_failed', detail, { retryAfterSeconds: seconds, cause: new TransformSuspended() });
}

/** The breaker of the transform is open, as the `cause` of its ServiceError. */
export class TransformSuspended extends Error {
  constructor() {
    super('The transform is suspended');
    this.name = 'TransformSuspended';
  }
}
