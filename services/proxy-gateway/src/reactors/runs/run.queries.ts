import { addToCounter, type Queryable, type ReactorRunState, readCounter, runBytesCounter } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';

interface RunKey {
  tenantId: string;
  id: string;
}

export interface NewRun extends RunKey {
  reactorId: string;
  createdBy: string;
  callerType: 'application' | 'session';
  traceId: string;
  cdnLoop: string | undefined;
  retryable: boolean;
  timeoutMs: number;
  argumentsCiphertext: Buffer;
}

/** Locks out other requests for runs of the Tenant until the transaction ends. @returns the waiting runs, up to `most`. */
export async function countWaiting(tx: Queryable, tenantId: string, most: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`runs of ${tenantId}`}, 0))`.execute(tx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select from reactor_runs where tenant_id = ${tenantId} and state = 'waiting' limit ${most}
    ) as waiting
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** In bytes, as encrypted. */
export function readKeptBytes(db: Queryable, tenantId: string): Promise<number> {
  return readCounter(db, tenantId, runBytesCounter);
}

export async function insertRun(tx: Queryable, run: NewRun): Promise<void> {
  await tx
    .insertInto('reactor_runs')
    .values({
      tenant_id: run.tenantId,
      id: run.id,
      reactor_id: run.reactorId,
      created_by: run.createdBy,
      caller_type: run.callerType,
      trace_id: run.traceId,
      cdn_loop: run.cdnLoop ?? null,
      retryable: run.retryable,
      timeout_ms: run.timeoutMs,
      arguments_ciphertext: run.argumentsCiphertext,
    })
    .execute();
}

export interface Claim extends RunKey {
  claimId: string;
}

export interface ClaimedRun {
  reactor_id: string;
  created_by: string;
  caller_type: 'application' | 'session';
  trace_id: string;
  cdn_loop: string | null;
  retryable: boolean;
  timeout_ms: number;
  tries: number;
  marked_at: string | null;
  arguments_ciphertext: Buffer | null;
}

const inMs = (ms: number) => sql<string>`clock_timestamp() + ${ms} * interval '1 millisecond'`;
/** In a waiting run `lease_until` is the end of the pause after a failed try. */
const isDue = sql<boolean>`(lease_until is null or lease_until <= clock_timestamp())`;

/** Undefined if the run is no longer waiting, or its pause lasts. */
export function claimRun(db: Queryable, claim: Claim, leaseMs: number): Promise<ClaimedRun | undefined> {
  return db
    .updateTable('reactor_runs')
    .set((eb) => ({
      state: 'running',
      claim_id: claim.claimId,
      lease_until: inMs(leaseMs),
      tries: eb('tries', '+', 1),
      started_at: sql<string>`coalesce(started_at, clock_timestamp())`,
    }))
    .where('tenant_id', '=', claim.tenantId)
    .where('id', '=', claim.id)
    .where('state', '=', 'waiting')
    .where(isDue)
    .returning([
      'reactor_id',
      'created_by',
      'caller_type',
      'trace_id',
      'cdn_loop',
      'retryable',
      'timeout_ms',
      'tries',
      'marked_at',
      'arguments_ciphertext',
    ])
    .executeTakeFirst();
}

/** Matches the run only while the claim's lease is valid. An expired lease is lost, because the run may have begun elsewhere. */
function held(db: Queryable, claim: Claim) {
  return db
    .updateTable('reactor_runs')
    .where('tenant_id', '=', claim.tenantId)
    .where('id', '=', claim.id)
    .where('claim_id', '=', claim.claimId)
    .where(sql<boolean>`lease_until > clock_timestamp()`);
}

/** False if the claim was lost. */
export async function renewLease(db: Queryable, claim: Claim, leaseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await held(db, claim)
    .set({ lease_until: inMs(leaseMs) })
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Records that the run may call destinations from now on. False if the claim was lost: then it must not. */
export async function markRun(db: Queryable, claim: Claim): Promise<boolean> {
  const marked_at = sql<string>`coalesce(marked_at, clock_timestamp())`;
  const { numUpdatedRows } = await held(db, claim).set({ marked_at }).executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Lets the run wait for another try, which begins `pauseMs` later. False if it must not begin again, because it may have
 * called a destination.
 */
export async function releaseRun(db: Queryable, claim: Claim, pauseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await released(db, claim, inMs(pauseMs))
    .where((eb) => eb.or([eb('marked_at', 'is', null), eb('retryable', '=', true)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Like {@link releaseRun}, without a pause, for code that still runs here: it has called nothing yet, and without its claim
 * it cannot.
 */
export async function releaseUnmarked(db: Queryable, claim: Claim): Promise<boolean> {
  const { numUpdatedRows } = await released(db, claim, null).where('marked_at', 'is', null).executeTakeFirst();
  return numUpdatedRows === 1n;
}

function released(db: Queryable, claim: Claim, lease_until: RawBuilder<string> | null) {
  return held(db, claim).set({ state: 'waiting', claim_id: null, lease_until });
}

export interface RunEnd {
  state: 'done' | 'failed';
  resultCiphertext: Buffer;
  consoleCiphertext: Buffer | undefined;
}

/** False if the claim was lost. Locks the counters last in its transaction. */
export async function endRun(tx: Queryable, claim: Claim, end: RunEnd): Promise<boolean> {
  const { numUpdatedRows } = await held(tx, claim)
    .set({
      state: end.state,
      claim_id: null,
      lease_until: null,
      ended_at: sql<string>`clock_timestamp()`,
      arguments_ciphertext: null,
      result_ciphertext: end.resultCiphertext,
      console_ciphertext: end.consoleCiphertext ?? null,
    })
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  const bytes = end.resultCiphertext.length + (end.consoleCiphertext?.length ?? 0);
  await addToCounter(tx, claim.tenantId, runBytesCounter, bytes);
  return true;
}

/** The oldest that may begin. */
export function listNextRuns(db: Queryable, tenantId: string, most: number): Promise<{ id: string; tries: number }[]> {
  return db
    .selectFrom('reactor_runs')
    .select(['id', 'tries'])
    .where('tenant_id', '=', tenantId)
    .where('state', '=', 'waiting')
    .where(isDue)
    .orderBy('created_at')
    .orderBy('id')
    .limit(most)
    .execute();
}

export interface AskedRun extends RunKey {
  reactorId: string;
  createdBy: string;
}

/** A result counts as deleted a day after the run ended, even while its row exists. */
const notGone = sql<boolean>`(ended_at is null or ended_at > statement_timestamp() - interval '24 hours')`;

export interface FoundRun {
  state: ReactorRunState;
  failure: 'interrupted' | 'overdue' | null;
  marked_at: string | null;
  trace_id: string;
  result_bytes: number | null;
}

/** Undefined for a run that is unknown, was cancelled, or was requested by another caller. */
export function findRun(db: Queryable, run: AskedRun): Promise<FoundRun | undefined> {
  return asked(db, run)
    .select(['state', 'failure', 'marked_at', 'trace_id'])
    .select(sql<number | null>`octet_length(result_ciphertext)`.as('result_bytes'))
    .executeTakeFirst();
}

export async function findResult(db: Queryable, run: AskedRun): Promise<Buffer | null | undefined> {
  return (await asked(db, run).select('result_ciphertext').executeTakeFirst())?.result_ciphertext;
}

function asked(db: Queryable, { tenantId, id, reactorId, createdBy }: AskedRun) {
  return db
    .selectFrom('reactor_runs')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('reactor_id', '=', reactorId)
    .where('created_by', '=', createdBy)
    .where('state', '<>', 'cancelled')
    .where(notGone);
}

export interface CancelledRun {
  trace_id: string;
  started_at: string | null;
}

/** Undefined if the run may have called a destination, has ended, or does not exist. */
export function cancelRun(
  tx: Queryable,
  { tenantId, id, reactorId, createdBy }: AskedRun,
): Promise<CancelledRun | undefined> {
  return tx
    .updateTable('reactor_runs')
    .set({
      state: 'cancelled',
      claim_id: null,
      lease_until: null,
      ended_at: sql<string>`clock_timestamp()`,
      arguments_ciphertext: null,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('reactor_id', '=', reactorId)
    .where('created_by', '=', createdBy)
    .where('state', 'in', ['waiting', 'running'])
    .where('marked_at', 'is', null)
    .returning(['trace_id', 'started_at'])
    .executeTakeFirst();
}
