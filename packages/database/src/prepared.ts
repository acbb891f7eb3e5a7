import type { Compilable, RawBuilder } from 'kysely';
import type pg from 'pg';
import type { Queryable } from './database.ts';

/** The pool behind each database, where {@link prepared} finds it. */
const pools = new WeakMap<Queryable, pg.Pool>();

export function rememberPool(db: Queryable, pool: pg.Pool): void {
  pools.set(db, pool);
}

export interface PoolState {
  used: number;
  idle: number;
  /** Queries that wait for a connection. */
  waiting: number;
}

/** The connections of a database that was opened with `connectDatabase`. */
export function poolState(db: Queryable): PoolState {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {};
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** How a connection to this database is opened. */
export function clientOptions(db: Queryable): pg.ClientConfig {
  return { ...pools.get(db)?.options };
}

interface Query<R> extends Compilable<R> {
  execute(): Promise<R[]>;
}

/** Takes the place of an argument while a query is compiled. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Makes a look-up that is compiled once, and that Postgres parses and plans once for each connection, which is three times as
 * fast. Use it for hot look-ups by a unique key only, because Postgres ends up with one plan for all values. `build` must
 * pass its arguments to the query unchanged. In a transaction it runs like any other query.
 * @param name of the statement; no other may have it.
 */
export function prepared<A extends unknown[], R>(
  name: string,
  build: (db: Queryable, ...values: A) => Query<R>,
): (db: Queryable, ...values: A) => Promise<R[]> {
  const run = named<A, R>(name, (db, values) => build(db, ...values).compile(), build.length - 1);
  return async (db, ...values) => {
    const pool = pools.get(db);
    return pool ? run(db, pool, values) : build(db, ...values).execute();
  };
}

/** Makes the same from a statement that is written in SQL. */
export function preparedSql<A extends unknown[], R>(
  name: string,
  build: (...values: A) => RawBuilder<R>,
): (db: Queryable, ...values: A) => Promise<R[]> {
  const run = named<A, R>(name, (db, values) => build(...values).compile(db), build.length);
  return async (db, ...values) => {
    const pool = pools.get(db);
    return pool ? run(db, pool, values) : (await build(...values).execute(db)).rows;
  };
}

type Compile<A> = (db: Queryable, values: A) => { sql: string; parameters: readonly unknown[] };

/** Compiles at the first call, with a placeholder for each argument. */
function named<A extends unknown[], R>(name: string, compile: Compile<A>, arity: number) {
  let compiled: { sql: string; parameters: readonly unknown[] } | undefined;
  return async (db: Queryable, pool: pg.Pool, values: A): Promise<R[]> => {
    compiled ??= compile(db, Array.from({ length: arity }, (_, index) => new Placeholder(index)) as unknown[] as A);
    const { sql: text, parameters } = compiled;
    const { rows } = await pool.query({
      name,
      text,
      values: parameters.map((value) => (value instanceof Placeholder ? values[value.index] : value)),
    });
    return rows;
  };
}
