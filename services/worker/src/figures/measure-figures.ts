import type { Database } from '@sluice/database';
import { exportGauge } from '@sluice/service-runtime';
import { type KeyUsage, mostEncryptions, readKeyUsage } from '@sluice/vault';
import type { Registry } from 'prom-client';
import { type Figure, type Figures, mostCounted, readFigures } from './figures.queries.ts';

/** In Prometheus, no comparison matches NaN. */
const unknown = Number.NaN;

export interface FigureRounds {
  figures(): Promise<void>;
  keyUsage(): Promise<void>;
}

/** These figures describe the whole platform and only Postgres knows them, so every worker reports the same. */
export function measureFigures(
  db: Database,
  registry: Registry,
  { hasWitness = false, stopping }: { hasWitness?: boolean; stopping?: AbortSignal } = {},
): FigureRounds {
  let figures: Figures = new Map();
  const of = (name: Figure) => figures.get(name) ?? unknown;
  const known = (names: Record<string, Figure>) =>
    Object.fromEntries(
      Object.entries(names).flatMap(([label, name]) => (figures.has(name) ? [[label, of(name)]] : [])),
    );
  let usage: KeyUsage | undefined;

  const gauge = (name: string, help: string, read: () => number | Record<string, number>, by?: string) =>
    exportGauge(registry, { name, help, read, ...(by !== undefined && { by }) });
  gauge('sluice_changes_waiting', 'Committed changes not yet confirmed by every caching process', () => of('changes'));
  gauge(
    'sluice_changes_oldest_age_seconds',
    'Age of the oldest change that is not yet confirmed by every caching process',
    () => of('oldestChange'),
  );
  gauge(
    'sluice_cache_leases',
    'Leases in Postgres. Each process with a cache has one',
    () => known({ held: 'leasesHeld', expired: 'leasesExpired' }),
    'state',
  );
  gauge(
    'sluice_cache_leases_outdated',
    'Leases of processes whose version of Sluice does not know the newest database migration',
    () =>
      known({
        'management-api': 'outdatedManagement',
        'token-vault': 'outdatedVaults',
        'proxy-gateway': 'outdatedGateways',
      }),
    'service',
  );
  gauge(
    'sluice_overdue_seconds',
    'How long the oldest expired row has been waiting for its deletion. kind="tenant" counts from the time when the Tenant was closed',
    () => known({ application: 'dueApplication', token: 'dueToken', cvc: 'dueCvc', tenant: 'closedTenant' }),
    'kind',
  );
  gauge('sluice_reactor_runs_waiting', 'Asynchronous runs waiting for a gateway', () => of('runsWaiting'));
  gauge('sluice_reactor_runs_oldest_age_seconds', 'Age of the oldest waiting run', () => of('oldestRun'));
  gauge('sluice_ledger_waiting_rows', 'Rows of the audit log that are not in the ledger yet', () =>
    of('unsequencedRows'),
  );
  gauge(
    'sluice_ledger_oldest_age_seconds',
    'Age of the oldest row of the audit log that is not in the ledger yet',
    () => of('oldestArrival'),
  );
  gauge('sluice_ledger_unwitnessed', 'Ledgers whose newest checkpoint the witness has not accepted', () =>
    hasWitness ? of('unwitnessedLedgers') : unknown,
  );
  gauge(
    'sluice_audit_log_default_rows',
    `Rows of the audit log that are in no monthly partition, counted up to ${mostCounted}`,
    () => of('rowsInNoMonth'),
  );
  gauge(
    'sluice_data_key_encryptions_max',
    'Number of encryptions with the most used data key',
    () => usage?.encryptions ?? unknown,
  );
  gauge('sluice_data_key_encryptions_limit', 'Encryptions after which a data key is replaced', () => mostEncryptions);
  gauge('sluice_data_key_oldest_age_seconds', 'Age of the oldest data key', () => usage?.ageSeconds ?? unknown);

  return {
    async figures() {
      figures = new Map();
      const read = await readFigures(db, stopping);
      figures = read.figures;
      if (read.errors.length > 0) throw read.errors[0];
    },
    async keyUsage() {
      usage = undefined;
      usage = await readKeyUsage(db);
    },
  };
}
