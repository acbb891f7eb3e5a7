export interface WindowCounterOptions {
  points: number;
  windowMs: number;
  /** Further ids pass uncounted until the next window. Default 10,000. */
  maxIds?: number;
  /** Milliseconds of a monotonic clock; default `performance.now`. */
  now?: () => number;
}

/** Counts in this process. All ids share one window, so that no id needs a timer. */
export interface WindowCounter {
  /** Returns 0 if the points may pass, or the milliseconds until the next window; they count either way. */
  count(id: string, points?: number): number;
}

export function createWindowCounter(options: WindowCounterOptions): WindowCounter {
  const { points: most, windowMs, maxIds = 10_000, now = () => performance.now() } = options;
  const counts = new Map<string, number>();
  let endsAt = 0;

  return {
    count(id, points = 1) {
      const at = now();
      if (at >= endsAt) {
        counts.clear();
        endsAt = at + windowMs;
      }
      const counted = counts.get(id) ?? 0;
      if (counted >= most) return endsAt - at;
      if (counted > 0 || counts.size < maxIds) counts.set(id, counted + points);
      return counted + points > most ? endsAt - at : 0;
    },
  };
}
