import type { Queryable } from '@sluice/database';
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

const kept = sql`interval '24 hours'`;
/** No living operation takes longer. One that hangs and resumes cannot store its answer, so it is rolled back. */
const lockedFor = sql`interval '20 seconds'`;

/** Only the default of `created_at` reads the clock, because a distributed table must not do so in an update. */
export async function claimKey(db: Queryable, claim: Claim): Promise<boolean> {
  const result = await sql`
    insert into idempotency_records (tenant_id, application_id, request_hash, body_hash, claim_id, locked_until)
    values (${claim.tenantId}, ${claim.applicationId}, ${claim.requestHash}, ${claim.bodyHash}, ${claim.claimId},
      clock_timestamp() + ${lockedFor})
    on conflict (tenant_id, application_id, request_hash) do update
    set body_hash = excluded.body_hash, claim_id = excluded.claim_id, locked_until = excluded.locked_until,
      answer_ciphertext = null, created_at = excluded.created_at
    where idempotency_records.created_at < excluded.created_at - ${kept}
      or (idempotency_records.answer_ciphertext is null and idempotency_records.locked_until < excluded.created_at)
  `.execute(db);
  return result.numAffectedRows === 1n;
}

/** Without the answer, which can take some MiB. */
export function findRecord(db: Queryable, key: RecordKey) {
  return recordOf(db, key)
    .select(['body_hash', sql<number | null>`octet_length(answer_ciphertext)`.as('answer_bytes')])
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

/** Frees the key after a failure, which is not kept, unless an answer was stored all the same. */
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
