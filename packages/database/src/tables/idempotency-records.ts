import type { Generated } from 'kysely';

export interface IdempotencyRecordsTable {
  tenant_id: string;
  application_id: string;
  /** Keyed hash of method, path and idempotency key. */
  request_hash: Buffer;
  /** Keyed hash of the body: the same key with another body is a mistake of the caller. */
  body_hash: Buffer;
  /** Who works on it: only the claim that did the work may store its answer. */
  claim_id: string;
  /** While there is no answer: when whoever works on it counts as dead. */
  locked_until: string;
  /** Status, headers and body of the answer as JSON, encrypted; null while it is worked on. */
  answer_ciphertext: Buffer | null;
  created_at: Generated<string>;
}
