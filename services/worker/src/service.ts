import { openBus, openChangeWriter, relayForgottenChanges } from '@sluice/cache-coherence';
import { checkDatabase, connectDatabase } from '@sluice/database';
import { consume, createJobMetrics } from '@sluice/jobs';
import type { Runtime, Service } from '@sluice/service-runtime';
import { openApplicationExpiry } from './application-expiry/expire-applications.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { deleteOldRecords } from './idempotency-expiry/delete-old-records.ts';
import { createWorkerMetrics } from './metrics.ts';
import { startSweep } from './sweep.ts';
import { purgeTenant, sweepClosedTenants } from './tenant-purge/purge-tenant.ts';
import { sweepDueCvcs, sweepExpiredTokens } from './token-expiry/sweep-tokens.ts';

/** Caches that nobody told of a change are stale until it is relayed. */
const relayIntervalMs = 1000;

/** Opens in order; what opens first closes last. */
export async function start(config: Config, { log, stack, readiness, metrics: registry }: Runtime): Promise<Service> {
  const db = connectDatabase(config, { stack, onError: (err) => log.warn({ err }, 'Postgres closed a connection') });
  readiness.add('postgres', () => checkDatabase(db));
  const bus = openBus({ redisUrl: config.REDIS_URL, log, stack });
  const metrics = createWorkerMetrics(registry);
  const changes = openChangeWriter({ db, bus, log, metrics: registry, stack });
  const context: Context = { db, log, changes, metrics };
  const applications = openApplicationExpiry(context);

  const onError = (err: Error) => log.warn({ err }, 'a job failed');
  const jobs = {
    redisUrl: config.REDIS_URL,
    stack,
    metrics: createJobMetrics(registry),
    lockMs: config.JOB_LOCK_MS,
    onError,
  };
  consume('application-expiry', applications.onAlarm, { ...jobs, concurrency: 100 });
  consume('tenant-purge', ({ tenant_id }) => purgeTenant(tenant_id, context), { ...jobs, concurrency: 1 });

  const sweep = (name: string, round: () => Promise<unknown>, intervalMs = config.SWEEP_INTERVAL_MS) =>
    startSweep(round, { name, intervalMs, log, stack, onFailure: () => metrics.sweepFailures.inc({ sweep: name }) });
  sweep('application-expiry', applications.sweep);
  sweep('tenant-purge', () => sweepClosedTenants(context));
  sweep('token-expiry', () => sweepExpiredTokens(context));
  sweep('cvc-removal', () => sweepDueCvcs(context));
  sweep('idempotency-expiry', () => deleteOldRecords(db));
  sweep('change-relay', () => relayForgottenChanges(db, changes), relayIntervalMs);
  return {};
}
