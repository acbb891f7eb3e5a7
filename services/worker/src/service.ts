import { announceChange } from '@sluice/cache-coherence';
import { connectDatabase, ping } from '@sluice/database';
import { consume } from '@sluice/jobs';
import { connectRedis, type Runtime, type Service } from '@sluice/service-runtime';
import { handleExpiryJob, sweepDueApplications } from './application-expiry/expire-application.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { deleteOldRecords } from './idempotency-expiry/delete-old-records.ts';
import { startSweep } from './sweep.ts';
import { purgeTenant, sweepClosedTenants } from './tenant-purge/purge-tenant.ts';

/** Opens in order; what opens first closes last. */
export async function start(config: Config, { log, stack, readiness }: Runtime): Promise<Service> {
  const db = connectDatabase(config, { stack, onError: (err) => log.warn({ err }, 'Postgres closed a connection') });
  const redis = connectRedis(config.REDIS_URL, { log, stack });
  readiness.add('postgres', () => ping(db));
  const context: Context = { db, log, announce: (change) => announceChange(redis, log, change) };

  const jobs = { redisUrl: config.REDIS_URL, stack, onError: (err: Error) => log.warn({ err }, 'a job failed') };
  consume('application-expiry', (payload) => handleExpiryJob(payload, context), jobs);
  consume('tenant-purge', ({ tenant_id }) => purgeTenant(tenant_id, context), { ...jobs, concurrency: 1 });

  const sweeps = { intervalMs: config.SWEEP_INTERVAL_MS, log, stack };
  startSweep(() => sweepDueApplications(context), { name: 'application-expiry', ...sweeps });
  startSweep(() => sweepClosedTenants(context), { name: 'tenant-purge', ...sweeps });
  startSweep(() => deleteOldRecords(db), { name: 'idempotency-expiry', ...sweeps });
  return {};
}
