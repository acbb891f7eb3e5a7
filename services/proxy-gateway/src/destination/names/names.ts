import type { LookupAddress } from 'node:dns';
import type { Resolver } from '@sluice/destination-policy';
import { type EndTurn, FairTurns } from '@sluice/fair-turns';
import { failure } from '../failures.ts';
import { nameResolver, type ResolverOptions } from './resolve-name.ts';

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

const failureAgeMs = 1000;

/** A Tenant's concurrent look-ups are limited, so that names without an answer cost only their Tenant. */
export function openNames(options: NamesOptions = {}): Names {
  const { lookupsPerTenant = 4, maxNames = 10_000, maxAgeSeconds = 30, maxWaitMs = 5000 } = options;
  const resolver = nameResolver(options);
  const remembered = new Map<string, Remembered>();
  const underWay = new Map<string, Done[]>();
  /** Waiting look-ups by Tenant and name, with everyone who shares their result. */
  const waiting = new Map<string, Done[]>();
  const turns = new FairTurns({ perKey: lookupsPerTenant, waiting: { forMs: maxWaitMs } });
  const outcomes = { found: 0, absent: 0, failed: 0 };

  function ask(tenantId: string, name: string, done: Done): void {
    if (answerWithoutTurn(name, [done])) return;
    const line = `${tenantId} ${name}`;
    const together = waiting.get(line);
    if (together) {
      together.push(done);
      return;
    }
    const turn = turns.take(tenantId);
    if (turn instanceof Promise) waitFor(turn, { line, name, done });
    else void lookUp(name, [done], turn);
  }

  /** @returns whether the name is cached, or being looked up for any Tenant. */
  function answerWithoutTurn(name: string, asking: readonly Done[]): boolean {
    const known = remembered.get(name);
    if (!known || known.until <= performance.now()) return underWay.get(name)?.push(...asking) !== undefined;
    for (const done of asking) process.nextTick(done, known.error, known.addresses);
    return true;
  }

  function waitFor(turn: Promise<EndTurn>, { line, name, done }: { line: string; name: string; done: Done }): void {
    const asking = [done];
    waiting.set(line, asking);
    turn.then(
      (end) => {
        waiting.delete(line);
        if (answerWithoutTurn(name, asking)) end();
        else void lookUp(name, asking, end);
      },
      () => {
        waiting.delete(line);
        for (const done of asking) done(failure('EDNS', `The look-up of ${name} waited for too long`), []);
      },
    );
  }

  async function lookUp(name: string, asking: Done[], end: EndTurn): Promise<void> {
    underWay.set(name, asking);
    const answer = await answerFor(name);
    remember(name, answer);
    underWay.delete(name);
    for (const done of asking) done(answer.error, answer.addresses);
    end();
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

  return {
    resolverFor: (tenantId) => (hostname, _options, callback) => {
      const name = hostname.toLowerCase();
      const local = resolver.local(name);
      if (local) process.nextTick(callback, null, local);
      else ask(tenantId, name, callback);
    },
    state: () => ({
      underWay: underWay.size,
      waiting: turns.state.waiting,
      remembered: remembered.size,
      outcomes,
    }),
    close: () => resolver.close(),
  };
}

export function namesOptionsFrom(config: {
  DESTINATION_NAME_SERVERS: string;
  DESTINATION_LOOKUPS_PER_TENANT: number;
  DESTINATION_NAMES_REMEMBERED: number;
  DESTINATION_NAME_MAX_AGE_SECONDS: number;
}): NamesOptions {
  const servers = config.DESTINATION_NAME_SERVERS.split(',').map((server) => server.trim());
  return {
    servers: servers.filter((server) => server !== ''),
    lookupsPerTenant: config.DESTINATION_LOOKUPS_PER_TENANT,
    maxNames: config.DESTINATION_NAMES_REMEMBERED,
    maxAgeSeconds: config.DESTINATION_NAME_MAX_AGE_SECONDS,
  };
}
