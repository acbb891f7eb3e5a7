import type { IncomingMessage } from 'node:http';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Confirmation, Hold, PendingChange, Reply } from '../operation.ts';

export interface IdempotentRequest {
  caller: Caller;
  method: string;
  /** Without the query. */
  path: string;
  key: string;
  body: unknown;
  /** The `If-Match` of the request: with another one the same key is another request. */
  ifMatch?: string | undefined;
  /** The creating transaction stores the response, with {@link KeepReply}. Otherwise the key is claimed before the work. */
  creates: boolean;
  hold: Hold;
  toKeep(reply: Reply): Reply;
  /** Reduces a stored response to what the caller may still read, and confirms its change if that is pending. */
  onReplay(reply: Reply, confirmation?: Confirmation): Promise<Reply>;
}

export type KeepReply = (tx: Queryable, reply: Reply, change?: PendingChange) => Promise<void>;

export interface IdempotencyStore {
  run(request: IdempotentRequest, work: (keep?: KeepReply) => Promise<Reply>): Promise<Reply>;
}

/** @throws {ServiceError} `bad_request` for a malformed key, or for several. */
export function readIdempotencyKey({ headersDistinct }: IncomingMessage, headerName: string): string | undefined {
  const [key, ...others] = headersDistinct[headerName.toLowerCase()] ?? [];
  if (key === undefined) return undefined;
  if (others.length === 0 && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ServiceError(
    'bad_request',
    `${headerName} must be sent only once and have 1 to 255 printable ASCII characters without blanks`,
  );
}
