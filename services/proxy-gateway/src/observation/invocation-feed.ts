import { setTimeout as wait } from 'node:timers/promises';
import {
  bucketOf,
  type Counts,
  countInvocation,
  type EndedInvocation,
  emptyCounts,
  FeedStore,
  mostKept,
  toLine,
} from '@sluice/invocation-feed';
import { exportCounter, type Logger } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { StageClock } from './stage-clock.ts';

const flushMs = 250;
const tenantsAtOnce = 16;
const mostOwed = 10_000;

/** An invocation of a Proxy, or a run of a reactor, that has ended. */
export interface Noted {
  /** Absent means an invocation of a Proxy. */
  isRun?: boolean;
  traceId: string;
  clock: Pick<StageClock, 'durations'>;
  /** Undefined if no Proxy or reactor was found, so that the Tenant is unknown too. */
  acting: NotedActing | undefined;
  request: { method?: string | undefined };
  response: { statusCode: number };
  destinationStatus: number | undefined;
  errorCode: string | undefined;
  errorDetail?: string | undefined;
  tokenIds: string[] | undefined;
  guardHits: number | undefined;
  guardTokenIds: string[] | undefined;
  printed: EndedInvocation['printed'];
}

export interface NotedActing {
  owner: { id: string; tenantId: string };
  caller: { id: string; applicationId?: string | undefined } | undefined;
}

export interface InvocationFeed {
  /** Once for each invocation or run, when it has ended. It waits for nothing and never fails. */
  note(invocation: Noted, durationMs: number): void;
}

/** What a Tenant's invocations since the last flush leave: a ring of the newest. Only what is sent becomes a line. */
interface Pending {
  ended: EndedInvocation[];
  /** The oldest of them, once the ring is full. */
  oldest: number;
  skipped: number;
  minutes: Map<number, Counts>;
}

interface FeedOptions {
  log: Logger;
  stack: AsyncDisposableStack;
  metrics: Registry;
}

/**
 * Sends records of ended invocations to Redis four times a second, without delaying invocations: of each Tenant the newest 1,000
 * since the last flush, and its figures. While Redis is unavailable they are dropped, so that they do not fill the memory. The
 * number of dropped records becomes a gap in the Tenant's positions once Redis is available again.
 */
export function openInvocationFeed(
  config: { REDIS_URL: string; INVOCATION_FEED: 'on' | 'off' },
  { log, stack, metrics }: FeedOptions,
): InvocationFeed | undefined {
  if (config.INVOCATION_FEED === 'off') return undefined;
  const store = new FeedStore(config.REDIS_URL, { log, stack });
  let pending = new Map<string, Pending>();
  const leftOut = { limit: 0, redis: 0 };
  /** By Tenant, the number of records that were not stored since the Tenant's last stored batch. */
  const owed = new Map<string, number>();
  let isClosed = false;
  let isAway = false;
  measure(metrics, leftOut);

  async function flush(): Promise<void> {
    const batches = [...pending];
    pending = new Map();
    let failure: unknown;
    const hand = async ([tenantId, { ended, oldest, skipped, minutes }]: [string, Pending]) => {
      const before = skipped + (owed.get(tenantId) ?? 0);
      leftOut.limit += skipped;
      try {
        // After a failure the rest of this flush is dropped, because every group would wait for the time limit again
        if (failure !== undefined) throw failure;
        const lines = [...ended.slice(oldest), ...ended.slice(0, oldest)].map(toLine);
        await store.add(tenantId, { lines, skipped: before, minutes });
        owed.delete(tenantId);
      } catch (error) {
        failure = error;
        leftOut.redis += ended.length;
        if (owed.size < mostOwed || owed.has(tenantId)) owed.set(tenantId, before + ended.length);
      }
    };
    for (let from = 0; from < batches.length; from += tenantsAtOnce) {
      await Promise.all(batches.slice(from, from + tenantsAtOnce).map(hand));
    }
    tell(failure);
  }

  function tell(failure: unknown): void {
    if (failure !== undefined && !isAway)
      log.warn({ err: failure }, 'the invocation feed leaves out what Redis does not take');
    isAway = failure !== undefined;
  }

  async function flushForEver(): Promise<void> {
    while (!isClosed) {
      await wait(flushMs, undefined, { ref: false });
      await flush();
    }
  }
  void flushForEver();
  stack.defer(async () => {
    isClosed = true;
    await flush();
  });

  return {
    note(invocation, durationMs) {
      if (!invocation.acting) return;
      const { owner, caller } = invocation.acting;
      const { id: ownerId, tenantId } = owner;
      let of = pending.get(tenantId);
      if (!of) {
        of = { ended: [], oldest: 0, skipped: 0, minutes: new Map() };
        pending.set(tenantId, of);
      }
      const now = Date.now();
      const minute = Math.floor(now / 60_000);
      let counts = of.minutes.get(minute);
      if (!counts) {
        counts = emptyCounts();
        of.minutes.set(minute, counts);
      }
      countInvocation(counts, invocation, bucketOf(durationMs));
      const one: EndedInvocation = {
        traceId: invocation.traceId,
        beganAt: now - durationMs,
        ownerId,
        isRun: invocation.isRun === true,
        applicationId: caller?.applicationId ?? caller?.id,
        method: invocation.request.method ?? '',
        status: invocation.response.statusCode,
        destinationStatus: invocation.destinationStatus,
        refusedBy: invocation.errorCode,
        detail: invocation.errorDetail,
        stages: invocation.clock.durations,
        totalMs: durationMs,
        tokenIds: invocation.tokenIds,
        guardHits: invocation.guardHits,
        guardTokenIds: invocation.guardTokenIds,
        printed: invocation.printed,
      };
      if (of.ended.length < mostKept) of.ended.push(one);
      else {
        of.ended[of.oldest] = one;
        of.oldest = (of.oldest + 1) % mostKept;
        of.skipped++;
      }
    },
  };
}

function measure(registry: Registry, leftOut: { limit: number; redis: number }): void {
  exportCounter(registry, {
    name: 'sluice_invocation_feed_left_out_total',
    help: 'Invocations missing in GET /invocations, because a Tenant had over 1,000 between two flushes',
    read: () => leftOut.limit,
  });
  exportCounter(registry, {
    name: 'sluice_invocation_feed_lost_total',
    help: 'Invocations missing in GET /invocations, because Redis failed',
    read: () => leftOut.redis,
  });
}
