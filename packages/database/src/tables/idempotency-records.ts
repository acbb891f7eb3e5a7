import type { Generated } from 'kysely';

export interface IdempotencyRecordsTable {
  tenant_id: string;
  application_id: string;
  /** Keyed hash of method, path and idempotency key. */
  request_hash: Buffer;
  body_hash: Buffer;
  /** Only this claim may store the answer. */
  claim_id: string;
  locked_until: string;
  /** Status, headers and body as JSON, encrypted; null until there is an answer. */
  answer_ciphertext: Buffer | null;
  created_at: Generated<string>;
}
