import type { ApplicationType, Grants } from '@sluice/access';
import type { ActorType } from '@sluice/audit';
import type { Queryable } from '@sluice/database';
import type { Sealed } from '../encryption/cipher.ts';
import type { Json } from '../json.ts';
import type { TokenTypeName } from '../types/token-types.ts';
import type { DecryptionBudget } from './decryption-budget.ts';
import type { CountedUses, TokenUse } from './use/token-use.ts';

/** An Application or a session, with its grants and the trace of the request. */
export interface Actor extends Grants {
  id: string;
  /** Anybody may have the key of a `public` Application or of a session. */
  type?: ApplicationType | 'session' | 'user';
  actorType?: ActorType;
  /** The Application that authorized the session; audit rows name it. */
  applicationId?: string;
  tenantId: string;
  traceId: string;
  /** Reserves memory before data is read or decrypted; undefined if the memory is available at once. */
  hold?(bytes: number): Promise<void> | undefined;
  /**
   * Call it before a value leaves, and before the commit of a change with its transaction, because the rights may have
   * ended since they were checked. Undefined if no query is needed. @throws {ServiceError} if they have ended or
   * changed.
   */
  look?(tx?: Queryable): Promise<void> | undefined;
  /** Compares the row that is to be changed with what the caller has read. @throws {ServiceError} `precondition_failed`. */
  requireVersion?(row: Pick<TokenRow, 'created_at' | 'modified_at'>): void;
  /** Set for administrators: finding a token in a list is no use of it, so the token does not count as active. */
  administers?: boolean;
  /** Set if code acts, because values that it sees are disclosed through the Proxy or reactor that has the code. */
  through?: Through;
}

/** The Proxy or reactor that uses values. */
export interface Through {
  entityType: 'proxy' | 'reactor';
  entityId: string;
  /** Set if there is exactly one call; a reactor may make none, or several. */
  destinationHost?: string;
  method?: string;
  /** Of the route that was called. */
  pathName?: string;
  /** Budget that all calls of the code share; without it, each call has the budget of a request. */
  decryption?: DecryptionBudget;
  /** Of its invocation or run. */
  counted: CountedUses;
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
  use?: TokenUse;
  /** Shown with `use.max_uses`: the invocations that were counted. */
  uses?: number;
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
  use: TokenUse | null;
  blind_metadata_bytes: number;
  active_month: string;
  created_by: string | null;
  created_at: string;
  modified_by: string | null;
  modified_at: string | null;
}
