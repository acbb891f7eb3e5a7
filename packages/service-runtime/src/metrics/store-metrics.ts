import type { Registry } from 'prom-client';
import { exportGauge } from './measured.ts';

export interface PoolFigures {
  used: number;
  idle: number;
  waiting: number;
  busiestTenant: number;
}

export function measurePool(registry: Registry, { size, state }: { size: number; state: () => PoolFigures }): void {
  exportGauge(registry, {
    name: 'sluice_postgres_pool_connections',
    help: 'Connections to Postgres, by whether a query uses them',
    by: 'state',
    read: () => ({ used: state().used, idle: state().idle }),
  });
  exportGauge(registry, {
    name: 'sluice_postgres_pool_size',
    help: 'Most connections that the pool opens, which is DATABASE_POOL_SIZE',
    read: () => size,
  });
  exportGauge(registry, {
    name: 'sluice_postgres_pool_waiting',
    help: 'Requests and queries that wait for a connection',
    read: () => state().waiting,
  });
  exportGauge(registry, {
    name: 'sluice_postgres_busiest_tenant_connections',
    help: 'Connections that the Tenant with most of them uses; it waits at half of DATABASE_POOL_SIZE',
    read: () => state().busiestTenant,
  });
}

export interface DisclosureFigures {
  waiting: number;
  refused: number;
}

export function measureDisclosures(
  registry: Registry,
  { limit, state }: { limit: number; state: () => DisclosureFigures },
): void {
  exportGauge(registry, {
    name: 'sluice_disclosure_queue_rows',
    help: 'Disclosures that are not in Postgres yet; refused are those that it does not take',
    by: 'state',
    read: () => ({ ...state() }),
  });
  exportGauge(registry, {
    name: 'sluice_disclosure_queue_limit_rows',
    help: 'How many may wait before nothing is disclosed any more, which is DISCLOSURE_QUEUE_LIMIT; of a Tenant half',
    read: () => limit,
  });
}
