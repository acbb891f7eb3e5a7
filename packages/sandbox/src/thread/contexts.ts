import { largeHeapBytes } from '../large-heaps.ts';
import type { Guest } from './guest.ts';
import type { BatchTask } from './messages.ts';

/** For one thread. */
const maximumGuests = 32;
/** Memory that an instance takes beside its heap. */
const besideHeapBytes = 2 ** 20;
/**
 * Limit for all guests of a thread together. A heap never shrinks, so memory that code needed once counts until its
 * guest is discarded.
 */
const maximumHeapBytes = 64 * 2 ** 20;
/** After this many uses a guest is replaced, because code may accumulate data in its globals. */
const maximumUses = 10_000;

interface Entry {
  code: string;
  /** Part of the identity of a guest, because code may have kept parts of it. */
  configurationJson: string;
  guest: Guest;
  uses: number;
}

export class Contexts {
  readonly #onDiscard: (guest: Guest) => void;
  readonly #entries = new Map<string, Entry & { heapBytes: number }>();

  constructor(onDiscard: (guest: Guest) => void) {
    this.#onDiscard = onDiscard;
  }

  take(task: BatchTask): Entry | undefined {
    const entry = this.#remove(keyOf(task));
    if (!entry) return undefined;
    if (entry.code === task.code && entry.configurationJson === task.configurationJson) return entry;
    this.#onDiscard(entry.guest);
    return undefined;
  }

  keep(task: BatchTask, entry: Entry): void {
    const { guest, uses } = entry;
    const { heapBytes } = guest.memory();
    if (uses >= maximumUses || heapBytes > largeHeapBytes) {
      this.#onDiscard(guest);
      return;
    }
    this.#entries.set(keyOf(task), { ...entry, heapBytes });
    while (this.#entries.size > maximumGuests || this.#heapBytes() > maximumHeapBytes) this.#evictOldest();
  }

  /** Memory of all guests that stay warm. */
  bytes(): number {
    return this.#heapBytes() + this.#entries.size * besideHeapBytes;
  }

  shrinkTo(bytes: number): void {
    while (this.bytes() > bytes) this.#evictOldest();
  }

  #heapBytes(): number {
    return [...this.#entries.values()].reduce((sum, entry) => sum + entry.heapBytes, 0);
  }

  #evictOldest(): void {
    const [oldest = ''] = this.#entries.keys();
    const evicted = this.#remove(oldest);
    if (evicted) this.#onDiscard(evicted.guest);
  }

  #remove(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    return entry;
  }
}

const keyOf = ({ tenantId, ownerId, kind }: BatchTask) => JSON.stringify([tenantId, ownerId, kind]);
