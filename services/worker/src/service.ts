import { openBus, openChangeWriter, relayForgottenChanges } from '@sluice/cache-coherence';
import { checkDatabase, connectAhead, connectDatabase, connectOwn, poolState } from '@sluice/database';
import { FeedStore } from '@sluice/invocation-feed';
import { ledgerOriginOf, readPrivateKey, writePublicKey } from '@sluice/ledger';
import { consume, jobMetrics, openJobs } from '@sluice/redis/jobs';
import { measurePool, type Runtime, type Service } from '@sluice/service-runtime';
import { ApplicationExpiry } from './application-expiry/expire-applications.ts';
import { deleteExpiredKeys } from './application-key-expiry/delete-expired-keys.ts';
import { addComingMonths } from './audit-log-months/add-coming-months.ts';
import { dropOldRows } from './audit-log-retention/drop-old-rows.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { measureFigures } from './figures/measure-figures.ts';
import { sequenceDue } from './ledger/sequence.ts';
import { showsCheckpoints } from './ledger/show-checkpoints.ts';
import { fileWitness, urlWitness, type Witness } from './ledger/witness.ts';
import { sweepMeasures, workerMetrics } from './metrics.ts';
import { sweepOverlooked } from './overlooked/sweep-overlooked.ts';
import { sweepOldRuns, sweepRuns } from './reactor-runs/sweep-runs.ts';
import { deleteEndedSessions } from './session-expiry/delete-ended-sessions.ts';
import { deleteEndedSignIns } from './sign-in-expiry/delete-ended-sign-ins.ts';
import { startSweep } from './sweep.ts';
import { purgeTenant, sweepClosedTenants } from './tenant-purge/purge-tenant.ts';
import { sweepDueCvcs, sweepExpiredTokens } from './token-expiry/sweep-tokens.ts';

/** Until a change is relayed, caches that missed its announcement are stale. */
const relayIntervalMs = 1000;
/** The greatest age of figures when they are scraped. */
const figuresIntervalMs = 10_000;
/** Half of the two seconds within which rows must be in the ledger. A batch costs as much as a hundred of its rows. */
const sequenceIntervalMs = 1000;
const witnessIntervalMs = 2000;
/** Short, so that lost runs are reported, and runs without a job begin, soon. */
const runsIntervalMs = 5000;
const keyUsageIntervalMs = 300_000;
/** Long, because it takes a query or two for each Tenant. */
const overlookedIntervalMs = 600_000;

export async function start(
  config: Config,
  { log, stack, readiness, metrics: registry, tracing }: Runtime,
): Promise<Service> {
  const connecting = { stack, onError: (err: Error) => log.warn({ err }, 'Postgres closed a connection') };
  const db = connectDatabase(config, connecting);
  const own = connectOwn(config, connecting); // sweeps of many rows delay neither the relay nor the readiness check
  readiness.add('postgres', () => checkDatabase(own));
  measurePool(registry, { size: config.DATABASE_POOL_SIZE, state: () => poolState(db) });
  await connectAhead(db, config); // the sweeps start together, and would open all connections at once
  const bus = openBus({ redisUrl: config.REDIS_URL, log, stack });
  const metrics = workerMetrics(registry);
  const changes = openChangeWriter({ db: own, bus, log, metrics: registry, stack, inPart: tracing?.inPart });
  const context: Context = { db, log, changes, metrics };
  const applications = new ApplicationExpiry(context);

  const onError = (err: Error) => log.warn({ err }, 'a job failed');
  const jobs = {
    redisUrl: config.REDIS_URL,
    stack,
    metrics: jobMetrics(registry),
    lockMs: config.JOB_LOCK_MS,
    onError,
    inSpan: tracing?.inSpan,
  };
  consume('application-expiry', (alarm) => applications.onAlarm(alarm), { ...jobs, concurrency: 100 });
  consume('tenant-purge', ({ tenant_id }) => purgeTenant(tenant_id, context), { ...jobs, concurrency: 1 });

  const stopping = new AbortController();
  const sweep = (name: string, round: () => Promise<unknown>, intervalMs = config.SWEEP_INTERVAL_MS) => {
    const traced = tracing ? () => tracing.inSpan(`sweep ${name}`, round) : round;
    startSweep(traced, {
      name,
      intervalMs,
      log,
      stopping: stopping.signal,
      stack,
      ...sweepMeasures(name, metrics),
    });
  };
  sweep('application-expiry', () => applications.sweep());
  sweep('application-key-expiry', () => deleteExpiredKeys(db));
  sweep('session-expiry', () => deleteEndedSessions(db));
  sweep('sign-in-expiry', () => deleteEndedSignIns(db));
  sweep('tenant-purge', () => sweepClosedTenants(context));
  sweep('token-expiry', () => sweepExpiredTokens(context));
  sweep('cvc-removal', () => sweepDueCvcs(context));
  const enqueuing = openJobs({ redisUrl: config.REDIS_URL, stack, onError });
  const feed = new FeedStore(config.REDIS_URL, { log, stack });
  sweep('reactor-runs', () => sweepRuns({ ...context, jobs: enqueuing, feed }), runsIntervalMs);
  sweep('old-reactor-runs', () => sweepOldRuns({ db, log, feed }));
  sweep('overlooked', () => sweepOverlooked(db), overlookedIntervalMs);
  sweep('audit-log-months', () => addComingMonths(db));
  sweep('change-relay', () => relayForgottenChanges(own, changes), relayIntervalMs);
  const privateKey = config.LEDGER_KEY === undefined ? undefined : readLedgerKey(config.LEDGER_KEY);
  const ledgerOrigin = ledgerOriginOf(config);
  if (privateKey)
    log.info(
      { public_key: writePublicKey(privateKey), origin: ledgerOrigin },
      'checkpoints of the audit log are signed',
    );
  else log.warn('LEDGER_KEY is not set: the ledger of the audit log is built, and no checkpoint is signed');
  const retention = { retentionDays: config.AUDIT_RETENTION_DAYS, keepClosedDays: config.AUDIT_KEEP_CLOSED_DAYS };
  sweep('audit-log-retention', () => dropOldRows({ db, privateKey, ledgerOrigin, ...retention }));
  const ledger = { db, privateKey, ledgerOrigin, signal: stopping.signal };
  sweep('ledger', () => sequenceDue(ledger), sequenceIntervalMs);
  const witness = witnessFrom(config);
  if (witness) sweep('ledger-witness', showsCheckpoints(db, witness, stopping.signal), witnessIntervalMs);
  const rounds = measureFigures(db, registry, { hasWitness: witness !== undefined, stopping: stopping.signal });
  sweep('figures', rounds.figures, figuresIntervalMs);
  sweep('key-usage', rounds.keyUsage, keyUsageIntervalMs);
  stack.defer(() => stopping.abort()); // deferred last, so that it runs before any sweep is awaited
  return {};
}

/** @throws {Error} if the settings name two witnesses, or a witness without a key to sign for it. */
function witnessFrom({ LEDGER_WITNESS_URL: url, LEDGER_WITNESS_FILE: path, LEDGER_KEY }: Config): Witness | undefined {
  if (url === undefined && path === undefined) return undefined;
  if (url !== undefined && path !== undefined)
    throw new Error('Set LEDGER_WITNESS_URL or LEDGER_WITNESS_FILE, not both');
  if (LEDGER_KEY === undefined)
    throw new Error('A witness is set and LEDGER_KEY is not: nothing would be signed for it');
  return url === undefined ? fileWitness(path ?? '') : urlWitness(url);
}

function readLedgerKey(pem: string) {
  try {
    return readPrivateKey(pem);
  } catch {
    throw new Error('LEDGER_KEY must be an Ed25519 private key (PKCS#8, PEM): openssl genpkey -algorithm ed25519');
  }
}
