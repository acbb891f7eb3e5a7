import type { Generated } from 'kysely';

export interface IdempotencyRecordsTable {
  tenant_id: string;
  application_id: string;
  /** Keyed hash of method, path and idempotency key. */
  request_hash: Buffer;
  /** Keyed hash of the body, because the same key with another body is a mistake of the caller. */
  body_hash: Buffer;
  /** Id of the claim that works on the request. Only that claim may store the answer. */
  claim_id: string;
  /** While there is no answer: the moment from which the claim counts as dead. */
  locked_until: string;
  /** Status, headers and body of the answer as JSON, encrypted; null until there is one. */
  answer_ciphertext: Buffer | null;
  created_at: Generated<string>;
}
