import type { IncomingMessage } from 'node:http';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Reply } from './operation.ts';

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
  /** What is left of a kept answer today. */
  onReplay(reply: Reply): Promise<Reply>;
}

/** Remembers the first success under a key. */
export interface IdempotencyStore {
  run(request: IdempotentRequest, work: () => Promise<Reply>): Promise<Reply>;
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
