import type { Guest } from './guest.ts';
import type { BatchTask } from './messages.ts';

/** For one thread. Each takes about 1 MiB beside its heap. */
const maximumGuests = 32;
/** Of all guests of a thread together. A heap never shrinks, so what code needed once counts until its guest goes. */
const maximumHeapBytes = 64 * 2 ** 20;
/** A guest with a larger heap is not kept, because it would displace many others. */
const maximumGuestHeapBytes = maximumHeapBytes / 2;
/** Then a guest is replaced, because code may leave more and more in its globals. */
const maximumUses = 10_000;

interface Entry {
  code: string;
  /** Code may have kept parts of it. */
  configurationJson: string;
  guest: Guest;
  uses: number;
}

export interface Contexts {
  take(task: BatchTask): Entry | undefined;
  keep(task: BatchTask, entry: Entry): void;
}

export function openContexts(onDiscard: (guest: Guest) => void): Contexts {
  const entries = new Map<string, Entry & { heapBytes: number }>();
  const isFull = () =>
    entries.size > maximumGuests ||
    [...entries.values()].reduce((sum, { heapBytes }) => sum + heapBytes, 0) > maximumHeapBytes;
  const remove = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    entries.delete(key);
    return entry;
  };

  return {
    take: (task) => {
      const entry = remove(keyOf(task));
      if (!entry) return undefined;
      if (entry.code === task.code && entry.configurationJson === task.configurationJson) return entry;
      onDiscard(entry.guest);
      return undefined;
    },
    keep: (task, entry) => {
      const { guest, uses } = entry;
      const { heapBytes } = guest.memory();
      if (uses >= maximumUses || heapBytes > maximumGuestHeapBytes) {
        onDiscard(guest);
        return;
      }
      entries.set(keyOf(task), { ...entry, heapBytes });
      while (isFull()) {
        const [oldest = ''] = entries.keys();
        const evicted = remove(oldest);
        if (evicted) onDiscard(evicted.guest);
      }
    },
  };
}

const keyOf = ({ tenantId, ownerId, kind }: BatchTask) => JSON.stringify([tenantId, ownerId, kind]);
