import type pg from 'pg';
import type { Queryable } from './database.ts';
import type { QueuedPool, Statements } from './queued-pool.ts';

interface Connections {
  pool: pg.Pool;
  queued: QueuedPool;
}

const known = new WeakMap<Queryable, Connections>();

export function rememberPool(db: Queryable, connections: Connections): void {
  known.set(db, connections);
}

/** For statements. Where Tenants share the pool, it enforces their shares. */
export function findPool(db: Queryable): Statements | undefined {
  return known.get(db)?.queued;
}

/** Ignores shares, for code that opens connections before there are requests. */
export function wholePool(db: Queryable): pg.Pool | undefined {
  return known.get(db)?.pool;
}

export interface PoolState {
  used: number;
  idle: number;
  waiting: number;
  /** Connections of the Tenant that uses the most. */
  busiestTenant: number;
}

export function poolState(db: Queryable): PoolState {
  const { pool, queued } = known.get(db) ?? {};
  const { totalCount = 0, idleCount = 0 } = pool ?? {};
  const { waiting = 0, mostOfOneKey = 0 } = queued?.state ?? {};
  return { used: totalCount - idleCount, idle: idleCount, waiting, busiestTenant: mostOfOneKey };
}

export function clientOptions(db: Queryable): pg.ClientConfig {
  return { ...known.get(db)?.pool.options };
}
