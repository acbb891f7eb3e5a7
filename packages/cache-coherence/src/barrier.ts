import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Change } from './change.ts';
import { listLeases } from './lease.queries.ts';
import type { Mailboxes } from './mailboxes.ts';

export interface Confirmation {
  changeId: string;
  /** Processes with a row in `cache_leases` at the announcement, also those that died a moment ago. */
  holders: number;
  waitedMs: number;
}

export interface BarrierOptions {
  db: Database;
  mailboxes: Mailboxes;
  /** Calls back with each holder that acknowledges. @returns a function that stops this. */
  announce: (change: Change, onAcknowledged: (holderId: string) => void) => () => void;
  deadlineMs: number;
}

/** Healthy holders acknowledge within this time; the others get the change through their mailboxes as well. */
const acknowledgementMs = 25;

const retryMs = 50;

/**
 * Waits until each process has dropped the entries that the change names, or has lost its lease. @throws {ServiceError}
 * 503
 */
export async function confirmChange(change: Change, options: BarrierOptions): Promise<Confirmation> {
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(options.deadlineMs);
  // Each attempt has its own id, because an acknowledgement of an earlier attempt may be for other tags.
  const announced: Change = { id: randomUUID(), tags: change.tags };
  const acknowledged = new Set<string>();
  const pending = new Map<string, () => void>();
  const holderIsDone = (holderId: string) => {
    acknowledged.add(holderId);
    pending.get(holderId)?.();
  };
  const stopListening = options.announce(announced, holderIsDone);
  try {
    // Read after the commit: a process that registers later reads the new state anyway.
    const leases = await listLeasesUntil(options.db, deadline);
    const waiting = leases.filter(({ holder_id }) => !acknowledged.has(holder_id));
    await Promise.all(
      waiting.map(({ holder_id, has_expired }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        pending.set(holder_id, resolve);
        return awaitHolder({ holderId: holder_id, patienceMs: has_expired ? 0 : acknowledgementMs, done: promise });
      }),
    );
    return { changeId: change.id, holders: leases.length, waitedMs: Math.round(performance.now() - startedAt) };
  } catch (cause) {
    throw unconfirmed(cause);
  } finally {
    stopListening();
  }

  async function awaitHolder({ holderId, patienceMs, done }: Wait): Promise<void> {
    if (await isDoneWithin(patienceMs, done)) return;
    const stopFollowing = options.mailboxes.follow(holderId, announced, () => holderIsDone(holderId));
    try {
      await abandonAt(deadline, done);
    } finally {
      stopFollowing();
    }
  }
}

interface Wait {
  holderId: string;
  patienceMs: number;
  done: Promise<void>;
}

async function listLeasesUntil(db: Database, deadline: AbortSignal) {
  let failure: unknown;
  while (!deadline.aborted) {
    try {
      return await abandonAt(deadline, listLeases(db));
    } catch (err) {
      // The first failure is reported, because the deadline may have cut the last attempt short.
      if (failure === undefined || err !== deadline.reason) failure = err;
      await delay(retryMs);
    }
  }
  throw failure;
}

async function isDoneWithin(ms: number, done: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      done.then(() => true),
      delay(ms, false, { signal: timer.signal }).catch(() => false), // aborted below
    ]);
  } finally {
    timer.abort();
  }
}

async function abandonAt<T>(deadline: AbortSignal, done: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abandon = () => reject(deadline.reason);
  if (deadline.aborted) abandon();
  deadline.addEventListener('abort', abandon);
  try {
    return await Promise.race([done, promise]);
  } finally {
    deadline.removeEventListener('abort', abandon);
  }
}

function unconfirmed(cause: unknown): ServiceError {
  return new ServiceError(
    'unavailable',
    'The change was made, but a process may still use the old state. The change is announced again until every process has confirmed it',
    { retryAfterSeconds: 2, cause },
  );
}
