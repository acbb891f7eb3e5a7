export interface WindowCounterOptions {
  points: number;
  windowMs: number;
  /** Further ids pass uncounted until the next window. Default 10,000. */
  maxIds?: number;
  /** Milliseconds of a monotonic clock; default `performance.now`. */
  now?: () => number;
}

/** Counts in this process. All ids share one window, so that no id needs a timer. */
export class WindowCounter {
  readonly #points: number;
  readonly #windowMs: number;
  readonly #maxIds: number;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #endsAt = 0;

  constructor({ points, windowMs, maxIds = 10_000, now = () => performance.now() }: WindowCounterOptions) {
    this.#points = points;
    this.#windowMs = windowMs;
    this.#maxIds = maxIds;
    this.#now = now;
  }

  /** Returns 0 if the points may pass, or the milliseconds until the next window; they count either way. */
  count(id: string, points = 1): number {
    const at = this.#now();
    if (at >= this.#endsAt) {
      this.#counts.clear();
      this.#endsAt = at + this.#windowMs;
    }
    const counted = this.#counts.get(id) ?? 0;
    if (counted >= this.#points) return this.#endsAt - at;
    if (counted > 0 || this.#counts.size < this.#maxIds) this.#counts.set(id, counted + points);
    return counted + points > this.#points ? this.#endsAt - at : 0;
  }
}
