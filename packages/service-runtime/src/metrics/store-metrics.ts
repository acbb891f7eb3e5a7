import type { Registry } from 'prom-client';
import { exportCounter, exportGauge } from './measured.ts';

export interface PoolFigures {
  used: number;
  idle: number;
  waiting: number;
  busiestTenant: number;
}

export function measurePool(registry: Registry, { size, state }: { size: number; state: () => PoolFigures }): void {
  exportGauge(registry, {
    name: 'sluice_postgres_pool_connections',
    help: 'Connections to Postgres',
    by: 'state',
    read: () => ({ used: state().used, idle: state().idle }),
  });
  exportGauge(registry, {
    name: 'sluice_postgres_pool_size',
    help: 'Value of the setting DATABASE_POOL_SIZE',
    read: () => size,
  });
  exportGauge(registry, {
    name: 'sluice_postgres_pool_waiting',
    help: 'Requests and queries waiting for a connection',
    read: () => state().waiting,
  });
  exportGauge(registry, {
    name: 'sluice_postgres_busiest_tenant_connections',
    help: 'Largest number of connections that any one Tenant uses. The limit is half of DATABASE_POOL_SIZE',
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
    help: 'Audit rows of disclosures that are not in Postgres yet. state="refused" means that Postgres rejects the rows',
    by: 'state',
    read: () => ({ ...state() }),
  });
  exportGauge(registry, {
    name: 'sluice_disclosure_queue_limit_rows',
    help: 'Value of the setting DISCLOSURE_QUEUE_LIMIT',
    read: () => limit,
  });
}

export interface KeyUseFigures {
  waiting: number;
  failedWrites: number;
}

export function measureKeyUses(registry: Registry, figures: KeyUseFigures): void {
  exportGauge(registry, {
    name: 'sluice_key_uses_waiting',
    help: 'Keys whose last use is not in Postgres yet. It is written once a minute',
    read: () => figures.waiting,
  });
  exportCounter(registry, {
    name: 'sluice_key_use_failed_writes_total',
    help: 'Failed writes of the last uses of keys. They are repeated',
    read: () => figures.failedWrites,
  });
}
