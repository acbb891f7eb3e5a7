import type pg from 'pg';
import type { Queryable } from './database.ts';
import type { SharedPool, Statements } from './shared-pool.ts';

interface Connections {
  pool: pg.Pool;
  /** Where Tenants share the pool. */
  shared: SharedPool | undefined;
}

const known = new WeakMap<Queryable, Connections>();

export function rememberPool(db: Queryable, connections: Connections): void {
  known.set(db, connections);
}

/** For statements. Where Tenants share the pool, it enforces their shares. */
export function findPool(db: Queryable): Statements | undefined {
  const connections = known.get(db);
  return connections?.shared ?? connections?.pool;
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
  const { pool, shared } = known.get(db) ?? {};
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pool ?? {};
  const { waiting = 0, mostOfOneKey = 0 } = shared?.state ?? {};
  return {
    used: totalCount - idleCount,
    idle: idleCount,
    waiting: waitingCount + waiting,
    busiestTenant: mostOfOneKey,
  };
}

export function clientOptions(db: Queryable): pg.ClientConfig {
  return { ...known.get(db)?.pool.options };
}
