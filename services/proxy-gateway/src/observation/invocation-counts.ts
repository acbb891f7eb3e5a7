import type { Database } from '@sluice/database';
import {
  addCounts,
  bucketOf,
  type Counts,
  countInvocation,
  emptyCounts,
  type MinuteOfSeries,
  type Series,
  writeCounts,
} from '@sluice/invocation-feed';
import { exportCounter, exportGauge, type Logger } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { Noted } from './invocation-feed.ts';

const writeEveryMs = 60_000;
/** Of about half a KiB. A Tenant may take half of them. */
const mostMinutes = 50_000;
/** Of a Tenant, in one transaction. More would hold up invocations while its statement is put together. */
const minutesAtOnce = 500;
/** In a row. Then Postgres is unavailable, and not only the rows of one Tenant. */
const mostFailures = 3;

type Write = (tenantId: string, minutes: readonly MinuteOfSeries[]) => Promise<void>;
type Ended = Pick<Noted, 'acting' | 'isRun' | 'errorCode' | 'destinationStatus'>;

interface CountedSeries {
  series: Series;
  minutes: Map<number, Counts>;
}

interface CountedTenant {
  byId: Map<string, CountedSeries>;
  /** The minutes of all its series, also those that are being written. */
  size: number;
}

export interface InvocationCountsOptions {
  now?: () => number;
  limit?: number;
}

/**
 * Counts invocations by minute, for the Tenant and for each Proxy, Application and reactor, until they are added to Postgres. An
 * invocation costs a few look-ups in maps. While Postgres is unavailable the counts wait. If too many wait, further ones are lost.
 */
export class InvocationCounts {
  readonly #now: () => number;
  readonly #limit: number;
  readonly #tenants = new Map<string, CountedTenant>();
  #waiting = 0;
  #lost = 0;
  #failedWrites = 0;

  constructor({ now = Date.now, limit = mostMinutes }: InvocationCountsOptions = {}) {
    this.#now = now;
    this.#limit = limit;
  }

  /** Minutes of series that are not yet in Postgres. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Invocations that are missing in the counts of their Tenant, Proxy, Application or reactor. */
  get lost(): number {
    return this.#lost;
  }

  /** Of one Tenant each. */
  get failedWrites(): number {
    return this.#failedWrites;
  }

  get isHalfFull(): boolean {
    return this.#waiting * 2 >= this.#limit;
  }

  note(ended: Ended, durationMs: number): void {
    if (!ended.acting) return;
    const { owner, caller } = ended.acting;
    const tenant = this.#tenantOf(owner.tenantId);
    const minute = Math.floor(this.#now() / 60_000);
    const bucket = bucketOf(durationMs);
    const ofAll = this.#countsOf(tenant, 'tenant', owner.tenantId, minute);
    const ofOwner = this.#countsOf(tenant, ended.isRun ? 'reactor' : 'proxy', owner.id, minute);
    if (ofAll) countInvocation(ofAll, ended, bucket);
    if (ofOwner) countInvocation(ofOwner, ended, bucket);
    let isWhole = ofAll !== undefined && ofOwner !== undefined;
    if (caller) {
      const ofCaller = this.#countsOf(tenant, 'application', caller.applicationId ?? caller.id, minute);
      if (ofCaller) countInvocation(ofCaller, ended, bucket);
      else isWhole = false;
    }
    if (!isWhole) this.#lost++;
  }

  /** What could not be written waits again. @throws the first error of `write`. */
  async write(write: Write, failuresAllowed = mostFailures): Promise<void> {
    let firstError: unknown;
    let failures = 0;
    for (const [tenantId, tenant] of [...this.#tenants]) {
      try {
        await this.#writeTenant(tenantId, tenant, write);
        failures = 0;
      } catch (error) {
        firstError ??= error;
        failures++;
        this.#failedWrites++;
        if (failures >= failuresAllowed) break;
      }
    }
    if (firstError !== undefined) throw firstError;
  }

  async #writeTenant(tenantId: string, tenant: CountedTenant, write: Write): Promise<void> {
    this.#tenants.delete(tenantId); // if it fails, it is the last in the next round
    this.#tenants.set(tenantId, tenant);
    const taken = minutesOf(tenant).sort((a, b) => b.counts.requests - a.counts.requests);
    tenant.byId = new Map();
    try {
      while (taken.length > 0) {
        const batch = taken.slice(0, minutesAtOnce);
        await write(tenantId, batch);
        taken.splice(0, batch.length);
        this.#release(tenant, batch.length);
      }
    } finally {
      for (const one of taken) this.#putBack(tenant, one);
      if (tenant.size === 0) this.#tenants.delete(tenantId);
    }
  }

  #putBack(tenant: CountedTenant, { series: { kind, id }, minute, counts }: MinuteOfSeries): void {
    this.#release(tenant, 1);
    const sum = this.#countsOf(tenant, kind, id, minute);
    if (sum) addCounts(sum, counts); // always, because its place was released
  }

  #release(tenant: CountedTenant, minutes: number): void {
    tenant.size -= minutes;
    this.#waiting -= minutes;
  }

  #tenantOf(tenantId: string): CountedTenant {
    let tenant = this.#tenants.get(tenantId);
    if (!tenant) {
      tenant = { byId: new Map(), size: 0 };
      this.#tenants.set(tenantId, tenant);
    }
    return tenant;
  }

  /** Undefined if too many wait. */
  #countsOf(tenant: CountedTenant, kind: Series['kind'], id: string, minute: number): Counts | undefined {
    let of = tenant.byId.get(id);
    const found = of?.minutes.get(minute);
    if (found) return found;
    if (this.#waiting >= this.#limit || tenant.size * 2 >= this.#limit) return undefined;
    if (!of) {
      of = { series: { kind, id }, minutes: new Map() };
      tenant.byId.set(id, of);
    }
    const counts = emptyCounts();
    of.minutes.set(minute, counts);
    tenant.size++;
    this.#waiting++;
    return counts;
  }
}

function minutesOf({ byId }: CountedTenant): MinuteOfSeries[] {
  return [...byId.values()].flatMap(({ series, minutes }) =>
    [...minutes].map(([minute, counts]) => ({ series, minute, counts })),
  );
}

interface OpenOptions extends InvocationCountsOptions {
  /** Not the requests' own pool, so that neither waits for the other. */
  db: Database;
  log: Logger;
  stack: AsyncDisposableStack;
  metrics: Registry;
  intervalMs?: number;
}

/** Disposal writes what waits. */
export function openInvocationCounts({
  db,
  log,
  stack,
  metrics,
  intervalMs = writeEveryMs,
  ...options
}: OpenOptions): Pick<InvocationCounts, 'note'> {
  const counts = new InvocationCounts(options);
  let writing: Promise<void> | undefined;
  let isAway = false;
  const write = (failuresAllowed?: number) => {
    writing ??= counts
      .write((tenantId, minutes) => writeCounts(db, tenantId, minutes), failuresAllowed)
      .then(() => {
        isAway = false;
      })
      .catch((err: unknown) => {
        if (!isAway) log.warn({ err }, 'counts of invocations were not written; they are kept and tried again');
        isAway = true;
      })
      .finally(() => {
        writing = undefined;
      });
    return writing;
  };
  const timer = setInterval(write, intervalMs);
  stack.defer(async () => {
    clearInterval(timer);
    await writing;
    await write(1);
  });
  measure(metrics, counts);
  return {
    note(ended, durationMs) {
      counts.note(ended, durationMs);
      if (counts.isHalfFull && !isAway) void write();
    },
  };
}

function measure(registry: Registry, counts: InvocationCounts): void {
  exportGauge(registry, {
    name: 'sluice_invocation_counts_waiting',
    help: 'Counts of invocations that are not in Postgres yet: one for each minute of each Tenant, Proxy, Application and reactor. Counts are written once a minute',
    read: () => counts.waiting,
  });
  exportCounter(registry, {
    name: 'sluice_invocation_counts_failed_writes_total',
    help: 'Failed writes of counts of invocations to Postgres. Each write has the counts of one Tenant, and is repeated if it fails',
    read: () => counts.failedWrites,
  });
  exportCounter(registry, {
    name: 'sluice_invocation_counts_lost_total',
    help: 'Invocations missing in GET /tenants/self/metrics, because too many counts were waiting to be written to Postgres',
    read: () => counts.lost,
  });
}
