import type pg from 'pg';
import type { Queryable } from './database.ts';

/** The pool behind each database, where statements that are named find it. */
const pools = new WeakMap<Queryable, pg.Pool>();

export function rememberPool(db: Queryable, pool: pg.Pool): void {
  pools.set(db, pool);
}

export function findPool(db: Queryable): pg.Pool | undefined {
  return pools.get(db);
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
