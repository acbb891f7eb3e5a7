import { FairTurns } from '@sluice/fair-turns';
import { connectRedis, type RedisClient } from '@sluice/redis';
import type { Logger } from '@sluice/service-runtime';
import { type Counts, fromFields, toFields } from './figures.ts';
import { type FedInvocation, fromLine } from './invocation-record.ts';

/** The number of invocations kept for each Tenant. */
export const mostKept = 1000;
const keptMs = 15 * 60_000;
const figuresKeptSeconds = 65 * 60;

/** A command that Redis has not answered by then fails. */
const answerMs = 1000;
/** Pages of this many Tenants are read at a time. A page may have 4 MB, all on one connection. */
const readsAtOnce = 4;

export interface FeedBatch {
  /** Made by `toLine`; oldest first, at most {@link mostKept}. */
  lines: readonly string[];
  /** The number of older invocations that this batch leaves out. */
  skipped: number;
  /** By the minute since 1970 in which they ended. */
  minutes: ReadonlyMap<number, Counts>;
}

export interface FeedPage {
  /** Oldest first. */
  invocations: FedInvocation[];
  /** The number of invocations missing before the last one, counted from the position asked for, otherwise from the first. */
  skipped: number;
}

/**
 * KEYS: the stream, the counter of positions, and one hash for each minute.
 * ARGV: the invocations as lines, the number skipped before them, the most entries of the stream, the seconds to keep the stream,
 * the seconds to keep a hash; then for each hash the number of its arguments, and its fields, each followed by its count.
 */
const addBatch = `
  local position = redis.call('INCRBY', KEYS[2], ARGV[2])
  for line in string.gmatch(ARGV[1], '[^\\n]+') do
    position = redis.call('INCR', KEYS[2])
    redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[3], '*', 'n', position, 'r', line)
  end
  redis.call('EXPIRE', KEYS[1], ARGV[4])
  redis.call('EXPIRE', KEYS[2], ARGV[4])
  local at = 6
  for key = 3, #KEYS do
    local last = at + tonumber(ARGV[at])
    for field = at + 1, last, 2 do redis.call('HINCRBY', KEYS[key], ARGV[field], ARGV[field + 1]) end
    redis.call('EXPIRE', KEYS[key], ARGV[5])
    at = last + 1
  end
  return position`;

/** The hash tag keeps the keys of a Tenant on one node of a cluster. */
const streamOf = (tenantId: string) => `sluice:invocations:{${tenantId}}`;
const counterOf = (tenantId: string) => `sluice:invocations:{${tenantId}}:count`;
const figuresKey = (tenantId: string, minute: number) => `sluice:figures:{${tenantId}}:${minute}`;

type Entry = [id: string, fields: string[]];

export class FeedStore {
  readonly #redis: RedisClient;
  readonly #turns = new FairTurns({ atOnce: readsAtOnce, perKey: 1 });
  /** Reads that have not begun, by Tenant. All who ask until then share one. */
  readonly #waiting = new Map<string, Promise<FeedPage>>();

  /** Connects in the background. */
  constructor(redisUrl: string, { log, stack }: { log: Logger; stack: AsyncDisposableStack }) {
    this.#redis = connectRedis(redisUrl, { log, stack });
  }

  /** @throws {Error} if Redis does not answer. Redis may have stored the batch all the same. */
  async add(tenantId: string, { lines, skipped, minutes }: FeedBatch): Promise<void> {
    const keys = [streamOf(tenantId), counterOf(tenantId)];
    const args: (string | number)[] = [lines.join('\n'), skipped, mostKept, keptMs / 1000, figuresKeptSeconds];
    for (const [minute, counts] of minutes) {
      keys.push(figuresKey(tenantId, minute));
      const fields = toFields(counts);
      args.push(fields.length, ...fields);
    }
    await this.#ask((redis) => redis.eval(addBatch, keys.length, ...keys, ...args));
  }

  /** The invocations of the last fifteen minutes. @throws {Error} if Redis does not answer. */
  read(tenantId: string, now: Date): Promise<FeedPage> {
    const waiting = this.#waiting.get(tenantId);
    if (waiting) return waiting;
    const page = this.#inTurn(tenantId, () => {
      this.#waiting.delete(tenantId);
      return this.#range(tenantId, `${now.getTime() - keptMs}`, undefined);
    });
    this.#waiting.set(tenantId, page);
    return page;
  }

  /** The invocations after this one. @throws {Error} if Redis does not answer. */
  readAfter(tenantId: string, { id, position }: Pick<FedInvocation, 'id' | 'position'>): Promise<FeedPage> {
    return this.#inTurn(tenantId, () => this.#range(tenantId, `(${id}`, position));
  }

  /** @throws {Error} if Redis does not answer. */
  async readFigures(tenantId: string, minutes: readonly number[]): Promise<Counts[]> {
    const hashes = await this.#ask((redis) =>
      Promise.all(minutes.map((minute) => redis.hgetall(figuresKey(tenantId, minute)))),
    );
    return hashes.map(fromFields);
  }

  async #inTurn<T>(tenantId: string, read: () => Promise<T>): Promise<T> {
    const end = await this.#turns.take(tenantId);
    try {
      return await read();
    } finally {
      end();
    }
  }

  async #range(tenantId: string, from: string, after: number | undefined): Promise<FeedPage> {
    const entries = await this.#ask((redis) => redis.xrange(streamOf(tenantId), from, '+'));
    const invocations = (entries as Entry[]).map(toInvocation);
    const [first, last] = [invocations[0], invocations.at(-1)];
    if (!first || !last) return { invocations, skipped: 0 };
    // After Redis lost its data, positions begin anew
    const from_ = after === undefined || after >= first.position ? first.position - 1 : after;
    return { invocations, skipped: last.position - from_ - invocations.length };
  }

  async #ask<T>(command: (redis: RedisClient) => Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new Error('Redis did not answer in time'));
      // Ends the silent connection, so that its commands fail at once and later commands get a new one
      this.#redis.disconnect(true);
    }, answerMs);
    try {
      return await Promise.race([command(this.#redis), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function toInvocation([id, [, position = '', , line = '']]: Entry): FedInvocation {
  return { id, position: Number(position), record: fromLine(line) };
}
