import type pg from 'pg';
import type { Queryable } from './database.ts';

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
  waiting: number;
}

export function poolState(db: Queryable): PoolState {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {};
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

export function clientOptions(db: Queryable): pg.ClientConfig {
  return { ...pools.get(db)?.options };
}
