import type { LookupAddress } from 'node:dns';
import type { Resolver } from '@sluice/destination-policy';
import { failure } from '../failures.ts';
import { createNameResolver, type ResolverOptions } from './resolve-name.ts';

export interface NamesOptions extends ResolverOptions {
  /** Concurrent look-ups of one Tenant; others wait. Default 4. */
  lookupsPerTenant?: number | undefined;
  maxNames?: number | undefined;
  maxAgeSeconds?: number | undefined;
  /** A look-up that has waited this long is dropped, because its caller has left. Default 5,000. */
  maxWaitMs?: number | undefined;
}

export interface NamesState {
  underWay: number;
  waiting: number;
  remembered: number;
  outcomes: { found: number; absent: number; failed: number };
}

export interface Names {
  /** The policy has not checked its answers yet. */
  resolverFor(tenantId: string): Resolver;
  state(): NamesState;
  close(): void;
}

type Done = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

interface Remembered {
  error: Error | null;
  addresses: LookupAddress[];
  until: number;
}

interface Tenant {
  underWay: number;
  waiting: Map<string, { since: number; asking: Done[] }>;
}

const failureAgeMs = 1000;

/** A Tenant's concurrent look-ups are limited, so that names without an answer cost only their Tenant. */
export function openNames(options: NamesOptions = {}): Names {
  const { lookupsPerTenant = 4, maxNames = 10_000, maxAgeSeconds = 30, maxWaitMs = 5000 } = options;
  const resolver = createNameResolver(options);
  const remembered = new Map<string, Remembered>();
  const underWay = new Map<string, Done[]>();
  const tenants = new Map<string, Tenant>();
  const outcomes = { found: 0, absent: 0, failed: 0 };

  function ask(tenantId: string, name: string, done: Done): void {
    const known = remembered.get(name);
    const joined = underWay.get(name);
    if (known && known.until > performance.now()) {
      process.nextTick(done, known.error, known.addresses);
    } else if (joined) {
      joined.push(done);
    } else {
      const tenant = tenantOf(tenantId);
      const waiting = tenant.waiting.get(name);
      if (tenant.underWay < lookupsPerTenant) void lookUp(tenantId, name, [done]);
      else if (waiting) waiting.asking.push(done);
      else tenant.waiting.set(name, { since: performance.now(), asking: [done] });
    }
  }

  function tenantOf(tenantId: string): Tenant {
    const found = tenants.get(tenantId) ?? { underWay: 0, waiting: new Map() };
    tenants.set(tenantId, found);
    return found;
  }

  async function lookUp(tenantId: string, name: string, asking: Done[]): Promise<void> {
    tenantOf(tenantId).underWay++;
    underWay.set(name, asking);
    const answer = await answerFor(name);
    remember(name, answer);
    underWay.delete(name);
    tenantOf(tenantId).underWay--;
    for (const done of asking) done(answer.error, answer.addresses);
    beginWaiting(tenantId);
  }

  async function answerFor(name: string): Promise<Remembered> {
    try {
      const { addresses, ttlSeconds } = await resolver.resolve(name);
      outcomes.found++;
      const ageSeconds = Math.min(Math.max(ttlSeconds, 1), maxAgeSeconds);
      return { error: null, addresses, until: performance.now() + ageSeconds * 1000 };
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : failure('EDNS', `${name} cannot be looked up`, thrown);
      if ('code' in error && error.code === 'ENOTFOUND') outcomes.absent++;
      else outcomes.failed++;
      return { error, addresses: [], until: performance.now() + failureAgeMs };
    }
  }

  function remember(name: string, answer: Remembered): void {
    remembered.delete(name); // keeps the map in order of age
    remembered.set(name, answer);
    if (remembered.size <= maxNames) return;
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      return;
    }
  }

  function beginWaiting(tenantId: string): void {
    const tenant = tenantOf(tenantId);
    for (const [name, { since, asking }] of tenant.waiting) {
      if (tenant.underWay >= lookupsPerTenant) return;
      tenant.waiting.delete(name);
      if (performance.now() - since <= maxWaitMs) for (const done of asking) ask(tenantId, name, done);
      else for (const done of asking) done(failure('EDNS', `The look-up of ${name} waited for too long`), []);
    }
    if (tenant.underWay === 0) tenants.delete(tenantId);
  }

  return {
    resolverFor: (tenantId) => (hostname, _options, callback) => {
      const name = hostname.toLowerCase();
      const local = resolver.local(name);
      if (local) process.nextTick(callback, null, local);
      else ask(tenantId, name, callback);
    },
    state: () => ({
      underWay: underWay.size,
      waiting: [...tenants.values()].reduce((sum, { waiting }) => sum + waiting.size, 0),
      remembered: remembered.size,
      outcomes,
    }),
    close: () => resolver.close(),
  };
}
