/** An instance that is larger has a large heap. Those that stay warm are smaller. */
export const largeHeapBytes = 32 * 2 ** 20;

/** Counts changes, because threads that wait for a cell wait for the next one. */
const changes = 0;

/** For one thread. */
export interface LargeHeapUse {
  /**
   * One cell for each large heap that the process has memory for, after the number of changes. It holds the number of the
   * thread that uses it, or 0.
   */
  cells: Int32Array;
  thread: number;
  /** The first cell that the thread may use. */
  first: number;
}

/**
 * Limits how many runs of all pools of a process have a large heap at the same time. Otherwise each thread could fill its
 * own heap at the same time, and together they would take more memory than the process may use.
 */
export class LargeHeaps {
  readonly #cells: Int32Array;
  #threads = 0;

  constructor(most: number) {
    this.#cells = new Int32Array(new SharedArrayBuffer((1 + most) * Int32Array.BYTES_PER_ELEMENT));
  }

  /** The first cell is only for code that ends soon, where there are several. */
  forThread(endsSoon: boolean): LargeHeapUse {
    this.#threads += 1;
    const isOnly = this.#cells.length === 2;
    return { cells: this.#cells, thread: this.#threads, first: endsSoon || isOnly ? 1 : 2 };
  }
}

/** Blocks the thread until it may have a large heap, for at most so long. @returns whether it may. */
export function takeLargeHeap({ cells, thread, first }: LargeHeapUse, longestMs: number): boolean {
  const endsAt = performance.now() + longestMs;
  for (;;) {
    const before = Atomics.load(cells, changes);
    for (let cell = first; cell < cells.length; cell += 1) {
      const user = Atomics.compareExchange(cells, cell, 0, thread);
      if (user === 0 || user === thread) return true;
    }
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) return false;
    Atomics.wait(cells, changes, before, leftMs);
  }
}

/** The main thread calls it as well, when the thread has ended. */
export function giveBackLargeHeap({ cells, thread }: LargeHeapUse): void {
  for (let cell = 1; cell < cells.length; cell += 1) Atomics.compareExchange(cells, cell, thread, 0);
  Atomics.add(cells, changes, 1);
  Atomics.notify(cells, changes);
}
