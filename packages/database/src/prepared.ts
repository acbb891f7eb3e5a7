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

/** Stands for an argument while a query is compiled. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * A look-up that is compiled once, and parsed and planned by Postgres once for each connection: three times as fast.
 * For hot look-ups by a unique key only, since Postgres comes to use one plan for all values. `build` must pass its
 * arguments to the query as they are. In a transaction it runs as any other query does.
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

/** The same for a statement that is written in SQL. */
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

/** Compiles on the first call, with something in place of each argument. */
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
