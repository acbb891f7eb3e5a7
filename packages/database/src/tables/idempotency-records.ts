import type { Generated } from 'kysely';

export interface IdempotencyRecordsTable {
  tenant_id: string;
  application_id: string;
  /** Keyed hash of method, path and idempotency key. */
  request_hash: Buffer;
  /** Keyed hash, because the same key with another body is a mistake of the caller. */
  body_hash: Buffer;
  /** Only this claim may store the answer. */
  claim_id: string;
  /** From this moment the claim counts as dead. */
  locked_until: string;
  /** Status, headers and body as JSON, encrypted; null until there is an answer. */
  answer_ciphertext: Buffer | null;
  created_at: Generated<string>;
}
