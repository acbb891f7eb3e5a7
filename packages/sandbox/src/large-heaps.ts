/** The heap of an instance that stays warm is no larger. */
export const largeHeapBytes = 32 * 2 ** 20;

/** Counts the heaps that were given back, because threads that wait for a cell wait for the next one. */
const givenBack = 0;
const first = 1;

/** For one thread. */
export interface LargeHeapUse {
  /**
   * After the count, one cell for each large heap that the process has memory for. It holds who uses it: the number of the
   * Tenant and that of the thread. Or it holds 0.
   */
  cells: BigInt64Array;
  thread: number;
  /** Whether the thread may use the first cell, in which a Tenant does not count. */
  mayUseFirst: boolean;
}

/**
 * Limits how many runs of all pools of a process have a large heap at the same time. Otherwise each thread could fill its
 * own heap at the same time, and together they would take more memory than the process may use. The first cell is for code
 * that ends soon. A Tenant may use half of the others.
 */
export class LargeHeaps {
  readonly #cells: BigInt64Array;
  #threads = 0;

  /** @param most at least 2 */
  constructor(most: number) {
    this.#cells = new BigInt64Array(new SharedArrayBuffer((first + most) * BigInt64Array.BYTES_PER_ELEMENT));
  }

  forThread(endsSoon: boolean): LargeHeapUse {
    this.#threads += 1;
    return { cells: this.#cells, thread: this.#threads, mayUseFirst: endsSoon };
  }
}

/** Blocks the thread until it may have a large heap for this Tenant, for at most so long. @returns whether it may. */
export function takeLargeHeap(use: LargeHeapUse, tenantId: string, longestMs: number): boolean {
  const { cells } = use;
  const endsAt = performance.now() + longestMs;
  for (;;) {
    const before = Atomics.load(cells, givenBack);
    if (take(use, numberOf(tenantId))) return true;
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) return false;
    Atomics.wait(cells, givenBack, before, leftMs);
  }
}

function take({ cells, thread, mayUseFirst }: LargeHeapUse, tenant: bigint): boolean {
  const user = (tenant << 32n) | BigInt(thread);
  if (cells.indexOf(user, first) !== -1) return true;
  if (mayUseFirst && Atomics.compareExchange(cells, first, 0n, user) === 0n) return true;
  const most = Math.max(Math.floor((cells.length - 1 - first) / 2), 1);
  for (let cell = first + 1; cell < cells.length; cell += 1) {
    if (usedBy(cells, tenant) >= most) return false;
    if (Atomics.compareExchange(cells, cell, 0n, user) !== 0n) continue;
    if (usedBy(cells, tenant) <= most) return true;
    Atomics.store(cells, cell, 0n); // Another thread of the Tenant was as fast.
  }
  return false;
}

/** How many of the shared cells the Tenant uses. */
function usedBy(cells: BigInt64Array, tenant: bigint): number {
  let count = 0;
  for (let cell = first + 1; cell < cells.length; cell += 1) {
    const user = Atomics.load(cells, cell);
    if (user !== 0n && user >> 32n === tenant) count += 1;
  }
  return count;
}

/** The main thread calls it as well, when the thread has ended. */
export function giveBackLargeHeap({ cells, thread }: LargeHeapUse): void {
  for (let cell = first; cell < cells.length; cell += 1) {
    const user = Atomics.load(cells, cell);
    if (user === 0n || Number(BigInt.asUintN(32, user)) !== thread) continue;
    Atomics.store(cells, cell, 0n);
    Atomics.add(cells, givenBack, 1n);
    Atomics.notify(cells, givenBack);
  }
}

/** A hash of 31 bits. Tenants that share one share their half, too. */
function numberOf(tenantId: string): bigint {
  let hash = 0;
  for (let index = 0; index < tenantId.length; index += 1)
    hash = (Math.imul(hash, 31) + tenantId.charCodeAt(index)) | 0;
  return BigInt(hash & 0x7fff_ffff);
}
