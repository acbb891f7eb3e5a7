import type { IncomingMessage } from 'node:http';
import type { BodyBytes } from '@sluice/body-bytes';
import type { Caller, Invalidations } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { RequestObserver, WorkPieces } from '@sluice/service-runtime';
import type { Logger } from 'pino';
import type { cookieApiPath } from './cookie-api.ts';
import type { IdempotencyStore } from './idempotency/idempotency-store.ts';
import type { AnonymousOperation, Operation } from './operation.ts';
import type { HtmlPage } from './pages.ts';
import type { PublicAnswer } from './public-answers.ts';
import type { StaticFile } from './static-files.ts';
import type { Streams } from './streams.ts';

export interface ApiOptions<C> {
  operations: readonly Operation<C>[];
  context: C;
  /** With `tx` it reads through that transaction, not the caches. @throws {ServiceError} `unauthenticated` */
  authenticate(request: IncomingMessage, tx?: Queryable): Caller | Promise<Caller>;
  /** The operations are served under {@link cookieApiPath}, only for pages of this host, and `authenticate` reads a cookie. */
  byCookie?: boolean;
  /** Operations that need no caller. With `byCookie` they too are served under {@link cookieApiPath}. */
  anonymousOperations?: readonly AnonymousOperation<C>[];
  /** The caches that `authenticate` reads. Without them each check of a caller is a query. */
  caches?: Invalidations;
  headerPrefix: string;
  /** Origins whose pages may call operations with `cors`, as in the setting. Without it no answer has CORS headers. */
  corsOrigins?: string | undefined;
  /** The origin of the hosted fields, which every Application allows. */
  fieldsOrigin?: string | undefined;
  /** The `allowed_origins` of the caller's Application apply to every operation, not only to those with `cors`. */
  judgesOrigins?: boolean;
  /** Checks that apply to all operations. @throws {ServiceError} 403 for a caller whom this host does not accept. */
  admit?(request: IncomingMessage, caller: Caller): void;
  /** The client's address; default: the peer of the connection. */
  addressOf?: (request: IncomingMessage) => string;
  log: Logger;
  /** Without it idempotency keys are ignored. */
  idempotency?: IdempotencyStore;
  staticFiles?: readonly StaticFile[];
  publicAnswers?: readonly PublicAnswer[];
  pages?: readonly HtmlPage[];
  /** The page at all paths that nothing else serves, except below {@link cookieApiPath} and the prefixes in `except`. */
  pageForOthers?: { page: StaticFile; except: readonly string[] };
  /** For a host that serves responses of destinations: their scripts must not intercept requests of other pages. */
  refusesServiceWorkers?: boolean;
  /** For a host that serves the list of errors: problems link to it. */
  linksHelp?: boolean;
  observer?: RequestObserver;
  streams?: Streams;
  /** Default: a part of the memory of the process. */
  bodyBytes?: BodyBytes;
  /**
   * The connection ends if the reader takes nothing of a large response for this time up to twice this time. Default: a
   * minute.
   */
  idleReaderMs?: number;
}

/** State shared by all requests of an API. */
export interface Shared {
  passes: WorkPieces;
  bodyBytes: BodyBytes;
}

export const defaultIdleReaderMs = 60_000;
