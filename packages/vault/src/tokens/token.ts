import type { Grants } from '@sluice/access';
import type { ActorType } from '@sluice/audit';
import type { Sealed } from '../encryption/cipher.ts';
import type { Json } from '../json.ts';
import type { TokenTypeName } from '../types/token-types.ts';

/** Who acts: an Application or a session with what it may do, and the trace under which it acts. */
export interface Actor extends Grants {
  id: string;
  /** Default: `application`. */
  actorType?: ActorType;
  /** Of a session: the Application that authorized it, which stands in the detail of audit rows. */
  applicationId?: string;
  tenantId: string;
  traceId: string;
  /** Where a transform of a Proxy acts: what it is shown is disclosed through that Proxy. */
  through?: Through;
}

/** The invocation within which somebody acts. */
export interface Through {
  proxyId: string;
  destinationHost: string;
  method: string;
}

/** The token resource as it is answered. Members that are unset are absent. */
export interface Token {
  id: string;
  type: TokenTypeName;
  tenant_id: string;
  /** Plaintext, or what the mask makes of it, or absent: as the rule that decides says. */
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

/** A token as it is stored. */
export interface TokenRow {
  id: string;
  type: string;
  tenant_id: string;
  data_ciphertext: Buffer;
  /** The data with its `cvc`, until that is due; then only `data_ciphertext` counts, which is without. */
  cvc_ciphertext: Buffer | null;
  cvc_due_at: string | null;
  /** Of the ciphertext that was opened last; `openData` makes it. */
  sealed?: Sealed;
  mask: Json;
  containers: string[];
  metadata: Record<string, string>;
  search_indexes: string[];
  fingerprint: string | null;
  fingerprint_expression: string | null;
  expires_at: string | null;
  active_month: string;
  created_by: string | null;
  created_at: string;
  modified_by: string | null;
  modified_at: string | null;
}
