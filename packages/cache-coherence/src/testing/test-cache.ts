import { type CacheLimits, GuardedCache, type Lease, type Loaded } from '../guarded-cache.ts';

export interface Value {
  value: string;
}

export interface SetLease extends Lease {
  valid: boolean;
  nowMs: number;
}

export function settableLease(): SetLease {
  return {
    valid: true,
    nowMs: 0,
    isValid() {
      return this.valid;
    },
    mayHaveCome(momentMs) {
      return this.nowMs >= momentMs;
    },
  };
}

export function testCache(limits: Partial<CacheLimits> = {}, lease: Lease = settableLease()): GuardedCache<Value> {
  return new GuardedCache<Value>(lease, { maxEntries: 100, maxBytes: 1_000_000, ...limits });
}

export function loaded(value: string, tags: readonly string[] = ['proxy:1']): Loaded<Value> {
  return { value: { value }, tags, sizeBytes: 100 };
}

export function testSource(state = 'old') {
  const source = {
    state,
    loads: 0,
    gate: Promise.resolve(),
    /** Answers wait until the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      source.gate = promise;
      return resolve;
    },
    load: async () => {
      source.loads += 1;
      const read = loaded(source.state);
      await source.gate;
      return read;
    },
    loadMany: async (keys: readonly string[]) => {
      source.loads += 1;
      const read = new Map(keys.map((key) => [key, loaded(`${source.state} ${key}`, [`proxy:${key}`, 'tenant:1'])]));
      await source.gate;
      return read;
    },
  };
  return source;
}
