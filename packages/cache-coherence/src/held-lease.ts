import { randomUUID } from 'node:crypto';
import type { Database, MailboxEntry } from '@sluice/database';
import type { Logger } from 'pino';
import type { Lease } from './guarded-cache.ts';
import { deleteLease, insertLease, leaseMs, type Renewal, renewLease } from './lease.queries.ts';

const renewalIntervalMs = leaseMs / 3;
const retryIntervalMs = 100;

/** The lease is not used in its last part, because clocks differ in speed. */
const marginMs = 200;

export interface HeldLeaseOptions {
  db: Database;
  service: string;
  log: Logger;
  onChange: (change: MailboxEntry) => void;
  /** Must drop everything, because since then writers may have reported success without this process. */
  onLoss: () => void;
}

/**
 * Its end is computed on the monotonic clock from when the renewal was sent. Each use checks it, because a timer is
 * late after a pause.
 */
export class HeldLease implements Lease {
  readonly counts = { renewals: 0, failures: 0, losses: 0 };
  #holderId: string | undefined;
  #validUntil = Number.NEGATIVE_INFINITY;
  /** Upper bound of the database's clock minus ours. */
  #clockOffsetMs = Number.POSITIVE_INFINITY;
  #handled: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #options: HeldLeaseOptions;

  constructor(options: HeldLeaseOptions) {
    this.#options = options;
  }

  get holderId(): string | undefined {
    return this.#holderId;
  }

  isValid(): boolean {
    return performance.now() < this.#validUntil;
  }

  mayHaveCome(momentMs: number): boolean {
    return performance.now() + this.#clockOffsetMs >= momentMs;
  }

  get remainingMs(): number {
    return Math.max(0, this.#validUntil - performance.now());
  }

  /** Retries until it is registered, then keeps renewing. */
  start(): Promise<void> {
    return this.#tick();
  }

  /** From then on writers no longer wait for this process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
    this.#validUntil = Number.NEGATIVE_INFINITY;
    const { db, log } = this.#options;
    if (!this.#holderId) return;
    await deleteLease(db, this.#holderId).catch((err: unknown) => log.warn({ err }, 'the lease runs out by itself'));
  }

  #tick(): Promise<void> {
    this.#round = this.#renew().then(
      (delayMs) => this.#schedule(delayMs),
      (err: unknown) => {
        this.#options.log.debug({ err }, 'the lease could not be renewed');
        this.counts.failures += 1;
        this.#schedule(retryIntervalMs);
      },
    );
    return this.#round;
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#tick(), delayMs);
  }

  async #renew(): Promise<number> {
    if (!this.#holderId) {
      await this.#register();
      return renewalIntervalMs;
    }
    const handled = this.#handled;
    const sentAt = performance.now();
    const renewal = await renewLease(this.#options.db, this.#holderId, handled);
    if (!renewal) {
      this.#lose();
      return 0;
    }
    this.#handled = [];
    for (const change of renewal.mailbox) {
      this.#options.onChange(change);
      this.#handled.push(change.id);
    }
    this.#count(sentAt, renewal);
    return this.#handled.length > 0 ? 0 : renewalIntervalMs;
  }

  /**
   * With a new id each time, because a registration whose response was lost leaves a row that must expire by itself.
   */
  async #register(): Promise<void> {
    const { db, service, onLoss } = this.#options;
    onLoss();
    const holderId = randomUUID();
    const sentAt = performance.now();
    const nowMs = await insertLease(db, holderId, service);
    this.#holderId = holderId;
    this.#handled = [];
    this.#count(sentAt, { nowMs });
  }

  #count(sentAt: number, { nowMs }: Pick<Renewal, 'nowMs'>): void {
    this.counts.renewals += 1;
    this.#validUntil = sentAt + leaseMs - marginMs;
    // An upper bound, because the database read its clock after the statement was sent.
    this.#clockOffsetMs = nowMs - sentAt;
  }

  #lose(): void {
    this.counts.losses += 1;
    this.#holderId = undefined;
    this.#validUntil = Number.NEGATIVE_INFINITY;
    this.#options.onLoss();
  }
}
