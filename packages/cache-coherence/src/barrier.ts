import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Change } from './change.ts';
import { listLeases } from './lease.queries.ts';
import type { Mailboxes } from './mailboxes.ts';

/** How a change was confirmed. */
export interface Settlement {
  changeId: string;
  /** How many processes had a lease when it was announced. */
  holders: number;
  waitedMs: number;
}

export interface BarrierOptions {
  db: Database;
  mailboxes: Mailboxes;
  /** Announces, and calls back with each holder that acknowledges; returns how to stop. */
  announce: (change: Change, onAcknowledged: (holderId: string) => void) => () => void;
  /** What takes longer waits for Postgres itself. */
  deadlineMs: number;
}

/** Within this time an acknowledgement comes where all is well; who is later gets it by the mailbox. */
const acknowledgementMs = 25;

const retryMs = 50;

/**
 * Announces a committed change and waits until no process can serve what it names: each has dropped it, or has given
 * up its lease, or has lost it.
 * @throws {ServiceError} `unavailable` where that could not be confirmed. The change stands, and is announced again.
 */
export async function confirmChange(change: Change, options: BarrierOptions): Promise<Settlement> {
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(options.deadlineMs);
  // Of this attempt: what a holder says of another attempt, with other tags perhaps, says nothing of this one.
  const announced: Change = { id: randomUUID(), tags: change.tags };
  const acknowledged = new Set<string>();
  const pending = new Map<string, () => void>();
  const holderIsDone = (holderId: string) => {
    acknowledged.add(holderId);
    pending.get(holderId)?.();
  };
  const stopListening = options.announce(announced, holderIsDone);
  try {
    // Read after the commit: who registers later reads the new state.
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
      // The deadline may cut the last attempt short; why the ones before failed says more.
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
    'The change was made, but it could not be confirmed that every process knows of it; it is being announced further',
    { retryAfterSeconds: 2, cause },
  );
}
