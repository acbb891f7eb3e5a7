import type { CoherentCaches } from '@sluice/cache-coherence';

/** Finds out whether rows may have changed since they were read. */
export type Invalidations = Pick<CoherentCaches, 'invalidations' | 'mayHaveCome'>;

/**
 * Records when rights were checked, and until when the rows behind them are valid. Create it before reading those rows,
 * so that it notices a change during the reading. Without caches every check reads them again.
 */
export class Judgement {
  readonly #caches: Invalidations | undefined;
  #seen: number;
  #endsAtMs = Number.POSITIVE_INFINITY;

  constructor(caches: Invalidations | undefined) {
    this.#caches = caches;
    this.#seen = this.#now();
  }

  /** The rights depend on something that expires at this time of the database's clock. */
  endsAt(moment: string | null | undefined): void {
    if (moment) this.#endsAtMs = Math.min(this.#endsAtMs, Date.parse(moment));
  }

  /** Calls `judge` only if something was invalidated, the lease was lost, or something may have expired since. */
  look(judge: () => unknown): Promise<void> | undefined {
    const isAsJudged = this.#now() === this.#seen && !this.#mayHaveEnded();
    return isAsJudged ? undefined : this.#lookAgain(judge);
  }

  async #lookAgain(judge: () => unknown): Promise<void> {
    const now = this.#now();
    await judge();
    this.#seen = now;
    // A change during the check may have overtaken it. Without a lease, Postgres has just been asked.
    if (!Number.isNaN(now) && this.#now() !== now) await this.look(judge);
  }

  #now(): number {
    return this.#caches?.invalidations() ?? Number.NaN;
  }

  #mayHaveEnded(): boolean {
    return this.#endsAtMs < Number.POSITIVE_INFINITY && this.#caches?.mayHaveCome(this.#endsAtMs) === true;
  }
}
