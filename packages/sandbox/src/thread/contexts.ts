import type { Guest } from './guest.ts';
import type { BatchTask } from './messages.ts';

/** For one thread. Each instance has about 2 MiB before it grows. */
const maximumGuests = 32;
/** A guest that grew more is not kept, nor may all guests of a thread together have grown more. */
const maximumGrownBytes = 32 * 2 ** 20;
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
  const entries = new Map<string, Entry>();
  const isFull = () =>
    entries.size > maximumGuests ||
    [...entries.values()].reduce((sum, { guest }) => sum + guest.memory().grownBytes, 0) > maximumGrownBytes;
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
      if (uses >= maximumUses || guest.memory().grownBytes > maximumGrownBytes) {
        onDiscard(guest);
        return;
      }
      entries.set(keyOf(task), entry);
      while (isFull()) {
        const [oldest = ''] = entries.keys();
        const evicted = remove(oldest);
        if (evicted) onDiscard(evicted.guest);
      }
    },
  };
}

const keyOf = ({ tenantId, proxyId, kind }: BatchTask) => JSON.stringify([tenantId, proxyId, kind]);
