import type { Grants } from '@sluice/access';
import type { ActorType } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import type { Sealed } from '../encryption/cipher.ts';
import type { Json } from '../json.ts';
import type { TokenTypeName } from '../types/token-types.ts';
import type { OpeningBudget } from './opening-budget.ts';

/** An Application or a session, with its grants and the trace of the request. */
export interface Actor extends Grants {
  id: string;
  actorType?: ActorType;
  /** The Application that authorized the session; audit rows name it. */
  applicationId?: string;
  tenantId: string;
  traceId: string;
  /** Reserves memory for what is about to be read or decrypted; undefined if there is room at once. */
  hold?(bytes: number): Promise<void> | undefined;
  /**
   * Call after a wait, because the key may have been revoked; in a transaction with that, so that it waits for no second
   * connection. Undefined if the actor is known at once. @throws {ServiceError} where its rights have ended or changed.
   */
  checkAgain?(tx?: Queryable): Promise<void> | undefined;
  /** Set where a transform of a Proxy acts, because what it sees is disclosed through that Proxy. */
  through?: Through;
}

export interface Through {
  proxyId: string;
  destinationHost: string;
  method: string;
  /** What all calls of the transform together may still decrypt; without it, each as much as one request. */
  opening?: OpeningBudget;
}

export interface Token {
  id: string;
  type: TokenTypeName;
  tenant_id: string;
  /** The deciding rule says whether it is plaintext, the filled mask, or absent. */
  data?: Json;
  mask?: Json;
  containers: string[];
  metadata?: Record<string, string>;
  search_indexes?: string[];
  fingerprint?: string;
  fingerprint_expression?: string;
  expires_at?: string;
  created_by?: string;
  created_at?: string;
  modified_by?: string;
  modified_at?: string;
}

export interface TokenRow {
  id: string;
  type: string;
  tenant_id: string;
  data_ciphertext: Buffer;
  cvc_ciphertext: Buffer | null;
  cvc_due_at: string | null;
  sealed?: Sealed;
  mask: Json;
  containers: string[];
  metadata: Record<string, string>;
  search_indexes: string[];
  fingerprint: string | null;
  fingerprint_expression: string | null;
  expires_at: string | null;
  blind_data_bytes: number;
  blind_metadata_bytes: number;
  active_month: string;
  created_by: string | null;
  created_at: string;
  modified_by: string | null;
  modified_at: string | null;
}
