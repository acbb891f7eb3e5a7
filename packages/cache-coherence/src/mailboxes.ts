import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@sluice/database';
import type { Logger } from 'pino';
import type { Change } from './change.ts';
import { deleteExpiredLease, postToMailbox } from './lease.queries.ts';

const roundIntervalMs = 25;

interface Debt {
  change: Change;
  isPosted: boolean;
  settle: () => void;
}

export interface MailboxesOptions {
  db: Database;
  log: Logger;
  counts: { posted: number; deletedLeases: number };
}

/** Reaches holders without Redis: a change stays in a lease's mailbox until it is removed or the lease deleted. */
export class Mailboxes {
  readonly #debts = new Map<string, Map<string, Debt>>();
  readonly #options: MailboxesOptions;

  constructor(options: MailboxesOptions) {
    this.#options = options;
  }

  /** Calls `settle` once the holder can no longer serve the old state. @returns a function that stops waiting. */
  follow(holderId: string, change: Change, settle: () => void): () => void {
    let debts = this.#debts.get(holderId);
    if (!debts) {
      debts = new Map();
      this.#debts.set(holderId, debts);
      void this.#collect(holderId, debts);
    }
    debts.set(change.id, { change, isPosted: false, settle });
    return () => void debts.delete(change.id);
  }

  async #collect(holderId: string, debts: Map<string, Debt>): Promise<void> {
    await Promise.resolve(); // until the caller has added the first change to wait for
    while (debts.size > 0) {
      try {
        await this.#round(holderId, debts);
      } catch (err) {
        this.#options.log.debug({ err, holder_id: holderId }, 'a mailbox could not be reached; tried again');
      }
      if (debts.size > 0) await delay(roundIntervalMs);
    }
    this.#debts.delete(holderId);
  }

  async #round(holderId: string, debts: Map<string, Debt>): Promise<void> {
    const { db, counts, log } = this.#options;
    const followed = [...debts.values()];
    if (await deleteExpiredLease(db, holderId)) {
      counts.deletedLeases += 1;
      log.warn({ holder_id: holderId }, 'a lease ran out and was deleted: its process hangs, is cut off, or is gone');
      return settle(debts, followed);
    }
    const unposted = followed.filter((debt) => !debt.isPosted);
    const entries = unposted.map(({ change }) => ({ id: change.id, tags: [...change.tags] }));
    const waiting = await postToMailbox(db, holderId, entries);
    if (!waiting) return settle(debts, followed);
    counts.posted += unposted.length;
    settle(
      debts,
      followed.filter(({ isPosted, change }) => isPosted && !waiting.has(change.id)),
    );
    for (const debt of unposted) debt.isPosted = true;
  }
}

function settle(debts: Map<string, Debt>, settled: readonly Debt[]): void {
  for (const debt of settled) if (debts.delete(debt.change.id)) debt.settle();
}
