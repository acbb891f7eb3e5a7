import { setImmediate } from 'node:timers/promises';
import { type Database, onConnection, type Queryable } from '@sluice/database';
import { FairTurns } from '@sluice/fair-turns';
import { ServiceError } from '@sluice/problems';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { requireUseKnown } from '../use/require-use-known.ts';
import {
  type InsertedToken,
  type Insertion,
  type InsertOutcome,
  insertTokens,
  insertTokensOnShards,
} from './insert-tokens.queries.ts';

interface NewTokens {
  actor: Actor;
  rows: readonly NewTokenRow[];
  month: string;
  /** Called in the transaction once the tokens are inserted; if it rejects, they are not. It may be called again. */
  also?: ((tx: Queryable, inserted: readonly InsertedToken[]) => Promise<void>) | undefined;
}

/** While an Application has this many transactions in progress, further requests wait and share the next one. */
const mostTransactions = 2;
/** A request with this many tokens gains nothing by sharing, so it gets its own transaction at once. */
const manyTokens = 100;
const mostTogether = 32;

interface Request extends NewTokens {
  settle: (outcome: InsertOutcome) => void;
  fail: (reason: unknown) => void;
}

/** Requests of one Application share transactions, because a commit costs as much as inserting dozens of tokens. */
export class TokenInserts {
  /** In the caller's own transaction. */
  readonly insertWith: (tx: Queryable, insertion: Insertion) => Promise<InsertOutcome>;
  readonly #db: Database;
  readonly #onShards: boolean;
  readonly #turns = new FairTurns({ perKey: mostTransactions });
  /** For each Application, the waiting requests that share the next turn, and that others may join. */
  readonly #batches = new Map<string, Request[]>();

  constructor(db: Database, { onShards }: { onShards: boolean }) {
    const insert = onShards ? insertTokensOnShards : insertTokens;
    this.insertWith = async (tx, insertion) => {
      const bound = boundIn(insertion.tokens);
      if (bound) await requireUseKnown(tx, null, bound.use);
      return insert(tx, insertion);
    };
    this.#db = db;
    this.#onShards = onShards;
  }

  /** Inserts all of these tokens or none, whatever happens to requests that share the transaction. */
  async insert(creation: NewTokens): Promise<InsertOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<InsertOutcome>();
    const request = { ...creation, settle: resolve, fail: reject };
    if (creation.rows.length >= manyTokens) await insertTogether([request], this.#insertAll);
    else this.#joinBatch(request);
    return promise;
  }

  #joinBatch(request: Request): void {
    const { actor, month, rows } = request;
    const line = `${actor.tenantId}/${actor.id}/${month}`;
    // Tokens with `use` need another query, which others should not pay for.
    const name = boundIn(rows) ? `${line}/use` : line;
    const waiting = this.#batches.get(name);
    if (waiting && waiting.length < mostTogether) {
      waiting.push(request);
      return;
    }
    const batch = [request];
    this.#batches.set(name, batch);
    // Never rejects; failures reject the promises of the requests.
    void this.#turns.run(line, async () => {
      // Requests that came at the same moment can still join. Otherwise the first would take a transaction for itself.
      await setImmediate();
      if (this.#batches.get(name) === batch) this.#batches.delete(name);
      await insertTogether(batch, this.#insertAll);
    });
  }

  /**
   * Checks each caller over the transaction's connection, because a key may be revoked while its request waits for one.
   * One statement commits by itself. @throws {NotAll}
   */
  readonly #insertAll: InsertAll = (requests) => {
    const [{ actor, month }] = requests;
    const tokens = requests.flatMap(({ rows }) => rows);
    const insertion = { actor, tokens, month, deduplicated: false };
    const isAlone = requests.every(({ also }) => also === undefined) && !boundIn(tokens);
    const isOneStatement = !this.#onShards && isAlone;
    const insertBy = async (connection: Queryable): Promise<InsertOutcome> => {
      await forEach(requests, ({ actor }) => actor.look?.(connection));
      const outcome = await this.insertWith(connection, insertion);
      const inserted = insertedOf(outcome);
      if (inserted) await forEach(requests, ({ rows, also }) => also?.(connection, inserted(rows)));
      return outcome;
    };
    return isOneStatement ? onConnection(this.#db, insertBy) : this.#db.transaction().execute(insertBy);
  };
}

/** A token with `use`. */
function boundIn(tokens: readonly NewTokenRow[]): NewTokenRow | undefined {
  return tokens.find(({ use }) => use !== null);
}

type InsertAll = (requests: readonly [Request, ...Request[]]) => Promise<InsertOutcome>;

/** If some are refused, the others are inserted without them. */
async function insertTogether(requests: readonly Request[], insertAll: InsertAll): Promise<void> {
  const [first, ...others] = requests;
  if (!first) return;
  try {
    const outcome = await insertAll([first, ...others]);
    const inserted = insertedOf(outcome);
    for (const { rows, settle } of requests) settle(inserted ? inserted(rows) : 'deduplicate');
  } catch (error) {
    if (error instanceof NotAll) {
      for (const [{ fail }, reason] of error.reasons) fail(reason);
      const remaining = requests.filter((request) => !error.reasons.has(request));
      await insertTogether(remaining, insertAll);
    } else if (requests.length > 1 && isRefusedData(error)) {
      for (const request of requests) await insertTogether([request], insertAll);
    } else for (const { fail } of requests) fail(error);
  }
}

/** A function that finds the inserted tokens of a request; undefined if nothing was inserted. */
function insertedOf(outcome: InsertOutcome) {
  if (typeof outcome === 'string') return undefined;
  const byId = new Map(outcome.map((token) => [token.id, token]));
  return (rows: readonly NewTokenRow[]) => rows.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Rolls the transaction back, because the tokens of some requests must not stay. */
class NotAll extends Error {
  readonly reasons: ReadonlyMap<Request, unknown>;

  constructor(reasons: ReadonlyMap<Request, unknown>) {
    super('Some of the requests that share the transaction are refused');
    this.reasons = reasons;
  }
}

/** @throws {NotAll} with the requests for which a step failed. */
async function forEach(
  requests: readonly Request[],
  step: (request: Request) => Promise<void> | undefined,
): Promise<void> {
  const refused = new Map<Request, unknown>();
  await Promise.all(
    requests.map(async (request) => {
      try {
        await step(request);
      } catch (error) {
        refused.set(request, error);
      }
    }),
  );
  if (refused.size > 0) throw new NotAll(refused);
}

/**
 * SQLSTATE classes that mean refused data, so nothing is stored. After other failures the tokens may have been stored.
 */
function isRefusedData(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'conflict';
  return error instanceof Error && 'code' in error && /^(22|23|54)...$/.test(String(error.code));
}
