import type { Database } from '@sluice/database';
import { exportGauge } from '@sluice/service-runtime';
import { type KeyUsage, mostEncryptions, readKeyUsage } from '@sluice/vault';
import type { Registry } from 'prom-client';
import { type Figures, mostCounted, readFigures } from './figures.queries.ts';

/** Prometheus compares nothing with it. */
const unknown = Number.NaN;

/** How the figures are brought up to date. While they cannot be read they are not known. */
export interface FigureRounds {
  figures(): Promise<void>;
  keyUsage(): Promise<void>;
}

/** Registers what only Postgres knows: of the whole platform, and the same in every worker. */
export function measureFigures(db: Database, registry: Registry, { hasWitness = false } = {}): FigureRounds {
  let figures: Figures | undefined;
  let usage: KeyUsage | undefined;

  const gauge = (name: string, help: string, read: () => number | Record<string, number>, by?: string) =>
    exportGauge(registry, { name, help, read, ...(by !== undefined && { by }) });
  gauge(
    'sluice_changes_waiting',
    'Changes that are committed, and that not every process that caches is known to have heard of',
    () => figures?.changes ?? unknown,
  );
  gauge(
    'sluice_changes_oldest_age_seconds',
    'Age of the oldest change that waits to be confirmed',
    () => figures?.oldestChange ?? unknown,
  );
  gauge(
    'sluice_cache_leases',
    'Leases in Postgres by state; a process that caches holds one',
    () => (figures ? { held: figures.leasesHeld, expired: figures.leasesExpired } : {}),
    'state',
  );
  gauge(
    'sluice_overdue_seconds',
    'How long the oldest that should be deleted by now has not been; tenant: since it was closed',
    () =>
      figures
        ? {
            application: figures.dueApplication,
            token: figures.dueToken,
            cvc: figures.dueCvc,
            tenant: figures.closedTenant,
          }
        : {},
    'kind',
  );
  gauge(
    'sluice_ledger_waiting_rows',
    'Rows of the audit log that are in no tree yet',
    () => figures?.unsequencedRows ?? unknown,
  );
  gauge(
    'sluice_ledger_oldest_age_seconds',
    'How long ago the oldest of these rows came to Postgres; those from before the ledger are not counted',
    () => figures?.oldestArrival ?? unknown,
  );
  gauge(
    'sluice_ledger_unwitnessed',
    'Ledgers whose newest checkpoint the witness has not taken; not known where there is no witness',
    () => (hasWitness ? figures?.unwitnessedLedgers : undefined) ?? unknown,
  );
  gauge(
    'sluice_audit_log_default_rows',
    `Rows of the audit log that stand in no month of their own, counted up to ${mostCounted}`,
    () => figures?.rowsInNoMonth ?? unknown,
  );
  gauge(
    'sluice_data_key_encryptions_max',
    'Most encryptions that were counted for one data key in use',
    () => usage?.encryptions ?? unknown,
  );
  gauge(
    'sluice_data_key_encryptions_limit',
    'Encryptions after which a data key is replaced by itself',
    () => mostEncryptions,
  );
  gauge('sluice_data_key_oldest_age_seconds', 'Age of the oldest data key in use', () => usage?.ageSeconds ?? unknown);

  return {
    async figures() {
      figures = undefined;
      figures = await readFigures(db);
    },
    async keyUsage() {
      usage = undefined;
      usage = await readKeyUsage(db);
    },
  };
}
