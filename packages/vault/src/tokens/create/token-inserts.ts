import type { Database, Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { NewTokenRow } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import {
  type InsertedToken,
  type Insertion,
  type InsertOutcome,
  insertTokens,
  insertTokensOnShards,
} from './insert-tokens.queries.ts';

export interface TokenInserts {
  /** All of these tokens or none, whatever becomes of requests that share the transaction. */
  insert(actor: Actor, rows: readonly NewTokenRow[], month: string): Promise<InsertOutcome>;
  insertWith(tx: Queryable, insertion: Insertion): Promise<InsertOutcome>;
}

/** While an Application has this many transactions in progress, further requests wait and share the next one. */
const mostTransactions = 2;
/** A request with this many tokens gains nothing by sharing, so it gets its own transaction at once. */
const manyTokens = 100;
const mostTogether = 32;

interface Request {
  actor: Actor;
  rows: readonly NewTokenRow[];
  settle: (outcome: InsertOutcome) => void;
  fail: (reason: unknown) => void;
}

interface Line {
  transactions: number;
  waiting: Request[];
}

/** Requests of one Application share transactions, because a commit costs as much as inserting dozens of tokens. */
export function openTokenInserts(db: Database, { onShards }: { onShards: boolean }): TokenInserts {
  const insertWith = onShards ? insertTokensOnShards : insertTokens;
  const insertAtOnce = (insertion: Insertion) =>
    onShards ? db.transaction().execute((tx) => insertWith(tx, insertion)) : insertWith(db, insertion);
  const lines = new Map<string, Line>();

  async function insert(actor: Actor, rows: readonly NewTokenRow[], month: string): Promise<InsertOutcome> {
    const insertRows = (tokens: readonly NewTokenRow[]) => insertAtOnce({ actor, tokens, month, deduplicated: false });
    if (rows.length >= manyTokens) return insertRows(rows);
    const name = `${actor.tenantId}/${actor.id}/${month}`;
    const line = lines.get(name) ?? { transactions: 0, waiting: [] };
    lines.set(name, line);
    const { promise, resolve, reject } = Promise.withResolvers<InsertOutcome>();
    line.waiting.push({ actor, rows, settle: resolve, fail: reject });
    if (line.transactions < mostTransactions) void work(name, line, insertRows);
    return promise;
  }

  /** Never rejects; failures reject the promises of the requests. */
  async function work(name: string, line: Line, insertRows: InsertRows): Promise<void> {
    line.transactions += 1;
    for (let haveWaited = false; line.waiting.length > 0; haveWaited = true) {
      const requests = line.waiting.splice(0, mostTogether);
      await insertTogether(haveWaited ? await stillAllowed(requests) : requests, insertRows);
    }
    line.transactions -= 1;
    if (line.transactions === 0) lines.delete(name);
  }

  return { insert, insertWith };
}

function outcomeOf(rows: readonly NewTokenRow[], outcome: InsertOutcome, byId: Map<string, InsertedToken>) {
  return typeof outcome === 'string' ? outcome : rows.flatMap(({ id }) => byId.get(id) ?? []);
}

/** SQLSTATE classes of refused data, where nothing is stored. After other failures the tokens may have been stored. */
function isRefusedData(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'conflict';
  return error instanceof Error && 'code' in error && /^(22|23|54)...$/.test(String(error.code));
}

/** Refuses the others. */
async function stillAllowed(requests: readonly Request[]): Promise<Request[]> {
  const checked = await Promise.all(
    requests.map(async (request) => {
      try {
        await request.actor.checkAgain?.();
        return [request];
      } catch (error) {
        request.fail(error);
        return [];
      }
    }),
  );
  return checked.flat();
}

type InsertRows = (rows: readonly NewTokenRow[]) => Promise<InsertOutcome>;

async function insertTogether(requests: readonly Request[], insertRows: InsertRows): Promise<void> {
  if (requests.length === 0) return;
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
