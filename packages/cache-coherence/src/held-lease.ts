import { randomUUID } from 'node:crypto';
import type { Database, MailboxEntry } from '@sluice/database';
import type { Logger } from 'pino';
import type { Lease } from './guarded-cache.ts';
import { deleteLease, insertLease, leaseMs, type Renewal, renewLease } from './lease.queries.ts';

const renewalIntervalMs = leaseMs / 3;
const retryIntervalMs = 100;

/** What of a lease is not used, for clocks that do not run equally fast. */
const marginMs = 200;

export interface HeldLeaseOptions {
  /** A connection that nothing else waits for. */
  db: Database;
  service: string;
  log: Logger;
  /** Drops what a change from the mailbox names. */
  onChange: (change: MailboxEntry) => void;
  /** Drops everything: the lease is gone, and writers have answered without this process since. */
  onLoss: () => void;
}

/**
 * A process's lease, renewed three times in its duration. It is valid until a moment of this process's monotonic clock,
 * counted from when the renewal was sent and compared whenever it is asked: a timer would fire late after a pause.
 */
export class HeldLease implements Lease {
  readonly counts = { renewals: 0, failures: 0, losses: 0 };
  #holderId: string | undefined;
  #validUntil = Number.NEGATIVE_INFINITY;
  /** The database's clock less ours: at most this. */
  #clockOffsetMs = Number.POSITIVE_INFINITY;
  #handled: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #options: HeldLeaseOptions;

  constructor(options: HeldLeaseOptions) {
    this.#options = options;
  }

  /** Undefined while there is none. */
  get holderId(): string | undefined {
    return this.#holderId;
  }

  isValid(): boolean {
    return performance.now() < this.#validUntil;
  }

  mayHaveCome(momentMs: number): boolean {
    return performance.now() + this.#clockOffsetMs >= momentMs;
  }

  /** How long it is valid from now on, in milliseconds; 0 where it is not. */
  get remainingMs(): number {
    return Math.max(0, this.#validUntil - performance.now());
  }

  /** Registers, or fails to and goes on trying; from then on renews. */
  start(): Promise<void> {
    return this.#tick();
  }

  /** Gives the lease up: writers do not wait for this process any more. */
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

  /** @returns after how many milliseconds to renew again. */
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

  /** Under a new id each time: a registration whose answer was lost is a row that runs out. */
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
    // The database read its clock after the statement was sent, so its time now is no later than this says.
    this.#clockOffsetMs = nowMs - sentAt;
  }

  #lose(): void {
    this.counts.losses += 1;
    this.#holderId = undefined;
    this.#validUntil = Number.NEGATIVE_INFINITY;
    this.#options.onLoss();
  }
}
