import type { IncomingMessage } from 'node:http';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Confirmation, PendingChange, Reply } from './operation.ts';

/** A request that may be sent again, under a key of its caller's choice. */
export interface IdempotentRequest {
  caller: Caller;
  method: string;
  /** Without the query. */
  path: string;
  key: string;
  body: unknown;
  /** What of an answer may be kept. */
  toKeep(reply: Reply): Reply;
  /** What is left of a kept answer today; with the confirmation of its change where that was still to come. */
  onReplay(reply: Reply, confirmation?: Confirmation): Promise<Reply>;
}

/** Keeps the answer in the transaction of what was done. */
export type KeepReply = (tx: Queryable, reply: Reply, change?: PendingChange) => Promise<void>;

/** Remembers the first success under a key. */
export interface IdempotencyStore {
  run(request: IdempotentRequest, work: (keep: KeepReply) => Promise<Reply>): Promise<Reply>;
}

/**
 * The key that a request carries, if it carries one.
 * @throws {ServiceError} `bad_request` for one that is no key, or for several.
 */
export function readIdempotencyKey({ headersDistinct }: IncomingMessage, headerName: string): string | undefined {
  const [key, ...others] = headersDistinct[headerName.toLowerCase()] ?? [];
  if (key === undefined) return undefined;
  if (others.length === 0 && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ServiceError('bad_request', `${headerName} must be 1 to 255 printable characters, once`);
}
