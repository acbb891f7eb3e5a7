import type { Guest } from './guest.ts';
import type { BatchTask } from './messages.ts';

/** Instances of QuickJS that wait in one thread, about 2 MiB each before they grow. */
const maximumGuests = 32;
/** A guest that grew more is not kept; together they may have grown four times as much. */
const maximumGrownBytes = 32 * 2 ** 20;
const maximumGrownTogether = maximumGrownBytes;
/** What code leaves behind in its globals ends with this many runs. */
const maximumUses = 10_000;

interface Entry {
  code: string;
  guest: Guest;
  /** Runs so far. */
  uses: number;
}

/** The guests of one thread by transform, the least recently used first. */
export interface Contexts {
  /** The warm guest of exactly this transform, removed while it runs. */
  take(task: BatchTask): Entry | undefined;
  /** Keeps a guest whose last run left it in order. */
  keep(task: BatchTask, entry: Entry): void;
}

/** `onDiscard` gets each guest that is not kept. */
export function openContexts(onDiscard: (guest: Guest) => void): Contexts {
  const entries = new Map<string, Entry>();
  const isFull = () =>
    entries.size > maximumGuests ||
    [...entries.values()].reduce((sum, { guest }) => sum + guest.memory().grownBytes, 0) > maximumGrownTogether;
  const remove = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    entries.delete(key);
    return entry;
  };

  return {
    take: (task) => {
      const entry = remove(keyOf(task));
      if (entry && entry.code !== task.code) onDiscard(entry.guest);
      return entry?.code === task.code ? entry : undefined;
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

/** Never the same for two Tenants. */
const keyOf = ({ tenantId, proxyId, kind }: BatchTask) => JSON.stringify([tenantId, proxyId, kind]);
