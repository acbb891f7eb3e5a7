import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { type InsertedToken, type InsertOutcome, insertTokensAtOnce } from './insert-tokens.queries.ts';

/** Inserts tokens; those that one Application creates at the same time share a transaction. */
export interface TokenInserts {
  /**
   * All of these or none, whatever becomes of those they share the transaction with.
   * @param month first day of the current UTC month.
   * @throws {ServiceError} as `insertTokens` does.
   */
  insert(actor: Actor, rows: readonly NewTokenRow[], month: string): Promise<InsertOutcome>;
}

/** While so many transactions of an Application are under way, what else it creates waits and shares the next. */
const mostTransactions = 2;
/** So many tokens gain nothing by sharing; they go at once, and nobody waits for them. */
const manyTokens = 100;
/** Requests. */
const mostTogether = 32;

interface Request {
  rows: readonly NewTokenRow[];
  settle: (outcome: InsertOutcome) => void;
  fail: (reason: unknown) => void;
}

interface Line {
  transactions: number;
  waiting: Request[];
}

/** A commit costs as much as inserting dozens of tokens, and it is the same for one as for many. */
export function openTokenInserts(db: Database): TokenInserts {
  const lines = new Map<string, Line>();

  async function insert(actor: Actor, rows: readonly NewTokenRow[], month: string): Promise<InsertOutcome> {
    const insertRows = (tokens: readonly NewTokenRow[]) =>
      insertTokensAtOnce(db, { actor, tokens, month, deduplicated: false });
    if (rows.length >= manyTokens) return insertRows(rows);
    const name = `${actor.tenantId}/${actor.id}/${month}`;
    const line = lines.get(name) ?? { transactions: 0, waiting: [] };
    lines.set(name, line);
    const { promise, resolve, reject } = Promise.withResolvers<InsertOutcome>();
    line.waiting.push({ rows, settle: resolve, fail: reject });
    if (line.transactions < mostTransactions) void work(name, line, insertRows);
    return promise;
  }

  /** Never rejects: what fails is told to those who asked. */
  async function work(name: string, line: Line, insertRows: InsertRows): Promise<void> {
    line.transactions += 1;
    while (line.waiting.length > 0) await insertTogether(line.waiting.splice(0, mostTogether), insertRows);
    line.transactions -= 1;
    if (line.transactions === 0) lines.delete(name);
  }

  return { insert };
}

/** Each request's own part, in the order in which it asked. */
function outcomeOf(rows: readonly NewTokenRow[], outcome: InsertOutcome, byId: Map<string, InsertedToken>) {
  return typeof outcome === 'string' ? outcome : rows.flatMap(({ id }) => byId.get(id) ?? []);
}

/**
 * SQLSTATE classes of data that Postgres refuses: then nothing is stored, and of several requests it may be one that is
 * at fault. After any other failure, a lost connection for example, they may be stored.
 */
function isRefusedData(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'conflict';
  return error instanceof Error && 'code' in error && /^(22|23|54)...$/.test(String(error.code));
}

type InsertRows = (rows: readonly NewTokenRow[]) => Promise<InsertOutcome>;

async function insertTogether(requests: readonly Request[], insertRows: InsertRows): Promise<void> {
  try {
    const outcome = await insertRows(requests.flatMap(({ rows }) => rows));
    const byId = new Map(typeof outcome === 'string' ? [] : outcome.map((token) => [token.id, token]));
    for (const { rows, settle } of requests) settle(outcomeOf(rows, outcome, byId));
  } catch (error) {
    if (requests.length > 1 && isRefusedData(error)) {
      for (const request of requests) await insertTogether([request], insertRows);
    } else for (const { fail } of requests) fail(error);
  }
}
