/** A thread, which keeps instances warm. */
interface Holder {
  readonly isFree: boolean;
  readonly warmBytes: number;
  giveBack(keepBytes: number): Promise<void>;
}

/**
 * Limits the memory of the instances that stay warm in all threads of a process. Threads that were used longest ago give
 * theirs back first. A busy thread gives back later, so each may exceed the limit by what it keeps of its present run.
 */
export class WarmMemory {
  readonly #mostBytes: number;
  /** In the order of their last use. */
  readonly #holders = new Set<Holder>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  used(holder: Holder): void {
    this.#holders.delete(holder); // to move it to the end of the Set
    this.#holders.add(holder);
  }

  remove(holder: Holder): void {
    this.#holders.delete(holder);
  }

  shrink(): void {
    let tooManyBytes = -this.#mostBytes;
    for (const { warmBytes } of this.#holders) tooManyBytes += warmBytes;
    for (const holder of [...this.#holders]) {
      if (tooManyBytes <= 0) return;
      if (!holder.isFree || holder.warmBytes === 0) continue;
      const keepBytes = Math.max(holder.warmBytes - tooManyBytes, 0);
      tooManyBytes -= holder.warmBytes - keepBytes;
      void holder.giveBack(keepBytes);
    }
  }
}
