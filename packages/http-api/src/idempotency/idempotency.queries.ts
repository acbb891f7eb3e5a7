import { preparedSql, type Queryable } from '@sluice/database';
import { sql } from 'kysely';

export interface RecordKey {
  tenantId: string;
  applicationId: string;
  requestHash: Buffer;
}

export interface Claim extends RecordKey {
  bodyHash: Buffer;
  claimId: string;
}

export interface KeptAnswer extends Claim {
  answer: Buffer;
}

const kept = sql`interval '24 hours'`;
/**
 * Longer than any operation takes. An operation that hangs and resumes cannot store its response, so it is rolled back.
 */
const lockedFor = sql`interval '20 seconds'`;

/**
 * Only the default of `created_at` reads the clock, and ages are compared instead of times, because Citus accepts only
 * immutable functions after `on conflict`, and `timestamptz - interval` is not immutable.
 */
const unlessLive = sql`
    on conflict (tenant_id, application_id, request_hash) do update
    set body_hash = excluded.body_hash, claim_id = excluded.claim_id, locked_until = excluded.locked_until,
      answer_ciphertext = excluded.answer_ciphertext, created_at = excluded.created_at
    where excluded.created_at - idempotency_records.created_at > ${kept}
      or (idempotency_records.answer_ciphertext is null and idempotency_records.locked_until < excluded.created_at)`;

export async function claimKey(db: Queryable, claim: Claim): Promise<boolean> {
  const result = await sql`
    insert into idempotency_records (tenant_id, application_id, request_hash, body_hash, claim_id, locked_until)
    values (${claim.tenantId}, ${claim.applicationId}, ${claim.requestHash}, ${claim.bodyHash}, ${claim.claimId},
      clock_timestamp() + ${lockedFor})
    ${unlessLive}
  `.execute(db);
  return result.numAffectedRows === 1n;
}

export interface LiveRecord {
  body_hash: Buffer;
  answer_bytes: number | null;
}

/** Undefined if the key is free. Does not read the response, which can be some MiB. */
export async function findRecord(db: Queryable, key: RecordKey): Promise<LiveRecord | undefined> {
  return recordOf(db, key)
    .select(['body_hash', sql<number | null>`octet_length(answer_ciphertext)`.as('answer_bytes')])
    .where(sql<boolean>`statement_timestamp() - created_at <= ${kept}`)
    .where(sql<boolean>`(answer_ciphertext is not null or locked_until >= statement_timestamp())`)
    .executeTakeFirst();
}

export async function findAnswer(db: Queryable, key: RecordKey): Promise<Buffer | null | undefined> {
  return (await recordOf(db, key).select('answer_ciphertext').executeTakeFirst())?.answer_ciphertext;
}

function recordOf(db: Queryable, { tenantId, applicationId, requestHash }: RecordKey) {
  return db
    .selectFrom('idempotency_records')
    .where('tenant_id', '=', tenantId)
    .where('application_id', '=', applicationId)
    .where('request_hash', '=', requestHash);
}

/**
 * Claims the keys and stores their responses at once. @returns the claims that succeeded: the other keys have a record,
 * or a concurrent transaction is about to store a response under them. It waits for neither, because many requests may
 * share `tx`.
 */
export async function insertAnswers(tx: Queryable, answers: readonly KeptAnswer[]): Promise<string[]> {
  const rows = await insertFree(tx, {
    tenantIds: answers.map(({ tenantId }) => tenantId),
    applicationIds: answers.map(({ applicationId }) => applicationId),
    requestHashes: answers.map(({ requestHash }) => requestHash),
    bodyHashes: answers.map(({ bodyHash }) => bodyHash),
    claimIds: answers.map(({ claimId }) => claimId),
    answers: answers.map(({ answer }) => answer),
  });
  return rows.map(({ claim_id }) => claim_id);
}

interface AnswerLists {
  tenantIds: string[];
  applicationIds: string[];
  requestHashes: Buffer[];
  bodyHashes: Buffer[];
  claimIds: string[];
  answers: Buffer[];
}

const insertFree = preparedSql(
  'insert_kept_answers',
  (lists: AnswerLists) => sql<{ claim_id: string }>`
    insert into idempotency_records (
      tenant_id, application_id, request_hash, body_hash, claim_id, locked_until, answer_ciphertext
    )
    select tenant_id, application_id, request_hash, body_hash, claim_id, clock_timestamp(), answer
    from unnest(
      ${lists.tenantIds}::uuid[], ${lists.applicationIds}::uuid[], ${lists.requestHashes}::bytea[],
      ${lists.bodyHashes}::bytea[], ${lists.claimIds}::uuid[], ${lists.answers}::bytea[]
    ) as each (tenant_id, application_id, request_hash, body_hash, claim_id, answer)
    where pg_try_advisory_xact_lock(hashtextextended(application_id || encode(request_hash, 'hex'), 0))
    ${unlessLive}
    returning claim_id
  `,
);

/** False if another request has taken over the claim. */
export async function storeAnswer(db: Queryable, claim: Claim, answer: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('idempotency_records')
    .set({ answer_ciphertext: answer })
    .where('tenant_id', '=', claim.tenantId)
    .where('application_id', '=', claim.applicationId)
    .where('request_hash', '=', claim.requestHash)
    .where('claim_id', '=', claim.claimId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Frees the key after a failure, unless a response was stored nevertheless. */
export async function releaseClaim(db: Queryable, claim: Claim): Promise<void> {
  await db
    .deleteFrom('idempotency_records')
    .where('tenant_id', '=', claim.tenantId)
    .where('application_id', '=', claim.applicationId)
    .where('request_hash', '=', claim.requestHash)
    .where('claim_id', '=', claim.claimId)
    .where('answer_ciphertext', 'is', null)
    .execute();
}
