import type { IncomingMessage } from 'node:http';
import type { PermissionType } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { ErrorCode } from '@sluice/problems';
import type { TypeOf } from './schema-type.ts';

type Typed<S, Otherwise> = S extends object ? TypeOf<S> : Otherwise;

/** In metrics and traces: `POST /tokens`. */
export function operationName({ method, path }: { method: string; path: string }): string {
  return `${method.toUpperCase()} ${path}`;
}

export const defaultBodyLimitBytes = 1024 * 1024;

/** A committed change that caching processes still have to confirm. */
export interface PendingChange {
  id: string;
  tenantIds: readonly string[];
  tags: readonly string[];
}

/** Stores the response in the transaction of the change, so that a repeated request never acts twice. */
export type SettleAnswer = (tx: Queryable, result: unknown, change?: PendingChange) => Promise<void>;

/**
 * Reserves memory, until the response is sent, for data that is read or made for it; undefined if the memory is
 * available at once.
 */
export type Hold = (bytes: number) => Promise<void> | undefined;

/**
 * Checks that the caller's rights have not changed. A change calls it after all its waits and passes its own
 * transaction, so that the check waits for no second connection. Undefined if no query is needed.
 * @throws {ServiceError} 401 and 403 if the caller may no longer call the operation; 503 for changed rights.
 */
export type Look = (tx?: Queryable) => Promise<void> | undefined;

/** A resource with its times, as a row or as a response shows them. */
export interface Versioned {
  created_at?: string | null | undefined;
  modified_at?: string | null | undefined;
}

/**
 * Compares a row with `If-Match` (RFC 9110 section 13.1.1). A handler calls it under the row's lock, after 403 and 404 and before 409
 * and 422. @throws {ServiceError} `precondition_failed`.
 */
export type RequireVersion = (row: Versioned) => void;

export interface OperationInput<P, Q, B> {
  params: Typed<P, Record<string, never>>;
  query: Typed<Q, Record<string, never>>;
  body: Typed<B, undefined>;
  bodyBytes: number;
  /** The JSON as it was sent, for an operation that `takesText`. */
  bodyText?: string;
  caller: Caller;
  traceId: string;
  address: () => string;
  /** Whether a browser sent it for a frame of the hosted fields. */
  fromFields: () => boolean;
  /** Several lines of one name are joined. `name` in lower case. */
  header: (name: string) => string | undefined;
  /** The media type that the caller prefers among several, or the first. */
  accepted: string;
  hold: Hold;
  look: Look;
  /** For an operation that is `versioned`; a request without `If-Match` always passes. */
  requireVersion: RequireVersion;
  /** `act` is called when the connection closes, at once if it has closed, and also after the response. */
  whenLeft: (act: () => void) => void;
  /** For `transaction` and `changeRows`: with an idempotency key, an operation that {@link createsOnce} must call it. */
  settle: SettleAnswer | undefined;
}

type Known = OperationInput<undefined, undefined, undefined>;
export type Asking = Pick<Known, 'caller' | 'traceId' | 'hold' | 'look'>;
/** For changes. */
export type Acting = Pick<Known, 'caller' | 'traceId' | 'look' | 'requireVersion'>;

type MediaType = 'application/json' | 'text/plain' | 'application/x-ndjson' | 'text/csv' | 'text/event-stream';

export interface OperationFacts<P, Q, B> {
  id: string;
  tag: string;
  summary: string;
  /** Markdown, beyond what summary and schemas say. Headers have the prefix SVC. */
  description?: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  /** Absent if any valid key suffices. */
  permission?: PermissionType;
  /** A caller with this permission may call it instead, but sees only its own objects. */
  orPermission?: PermissionType;
  /** Only Applications of this type, or only sessions, may call it. */
  takesKeyOf?: Caller['type'];
  params?: P;
  query?: Q;
  body?: B;
  /** The handler also gets the body as `bodyText`, because parsed numbers lose their digits. */
  takesText?: boolean;
  /** A missing body means `{}`. */
  bodyOptional?: boolean;
  /** `application/json` also accepts any `+json`. */
  consumes?: 'application/json' | 'application/merge-patch+json';
  /** `Accept` chooses among several. Text is sent unchanged. */
  produces?: MediaType | readonly MediaType[];
  /** The schema of the events' text, if one of the types is `text/event-stream`. */
  events?: object;
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** Top-level members that are only passed on, so they may contain any text, even NUL and lone surrogates. */
  opaque?: readonly string[];
  /** False if repetition is harmless and the response contains values. Default: true for POST, PUT and PATCH. */
  idempotent?: boolean;
  cors?: boolean;
  /**
   * The response contains values, a Proxy's key or its configuration, so the caller's rights are checked again before
   * it is sent. Not for changes, because a completed change is always confirmed.
   */
  showsSecrets?: boolean;
  /** By cookie it also accepts a person's own navigation, such as a link to a file. */
  isDownload?: boolean;
  /** The handler returns {@link Confirmed}, because its change is confirmed before the response. */
  confirmed?: boolean;
  /**
   * The response shows one resource with its times, and so has its `ETag`. PUT, PATCH and DELETE take `If-Match`: their
   * handlers call `requireVersion`.
   */
  versioned?: boolean;
  /** Success status and the schema of its body; `null` for no body. */
  response: { readonly [status: number]: object | null };
  /** Failures besides those of every operation. */
  errors?: readonly ErrorCode[];
}

/** Route, permission check, validation, documentation and the type of `handle` all come from this record. */
export interface OperationRecord<C, P, Q, B> extends OperationFacts<P, Q, B> {
  /** Reduces a response to what may be stored for a day under an idempotency key. */
  keep?(body: unknown): unknown;
  /** Reduces a stored response to what the caller may still read when it is replayed. */
  replay?(body: unknown, context: C, asking: Asking): Promise<unknown>;
  handle(input: OperationInput<P, Q, B>, context: C): Promise<unknown>;
}

export interface Operation<C> extends OperationFacts<object, object, object> {
  keep?(body: unknown): unknown;
  replay?(body: unknown, context: C, asking: Asking): Promise<unknown>;
  handle(input: never, context: C): Promise<unknown>;
}

export function keyHolderOf(type: Caller['type']): string {
  if (type === 'user') return 'a person';
  return type === 'session' ? 'a session' : `a \`${type}\` Application`;
}

export interface OpenInput<B> {
  body: Typed<B, undefined>;
  /** Use only its head, for example cookies. */
  request: IncomingMessage;
  traceId: string;
  address: () => string;
}

/** Needs no caller, for example signing in. */
export interface AnonymousOperationRecord<C, B> {
  id: string;
  tag: string;
  summary: string;
  description?: string;
  method: 'get' | 'post';
  path: string;
  body?: B;
  response: { readonly [status: number]: object | null };
  errors?: readonly ErrorCode[];
  handle(input: OpenInput<B>, context: C): Promise<unknown>;
}

export interface AnonymousOperation<C> extends Omit<AnonymousOperationRecord<C, object>, 'handle'> {
  handle(input: never, context: C): Promise<unknown>;
}

export function takesIdempotencyKey({ method, idempotent }: Pick<Operation<never>, 'method' | 'idempotent'>): boolean {
  return idempotent !== false && (method === 'post' || method === 'put' || method === 'patch');
}

/**
 * Its creation must never happen twice, so the transaction that creates also stores the response. PUT and PATCH set a
 * state, so they may run again.
 */
export function createsOnce(operation: Pick<Operation<never>, 'method' | 'idempotent'>): boolean {
  return operation.method === 'post' && takesIdempotencyKey(operation);
}

/** `const operation = operationsOf<Context>()` types the records of a service. */
export function operationsOf<C>() {
  return <
    const P extends object | undefined = undefined,
    const Q extends object | undefined = undefined,
    const B extends object | undefined = undefined,
  >(
    record: OperationRecord<C, P, Q, B>,
  ): Operation<C> => record as Operation<C>;
}

export function anonymousOperationsOf<C>() {
  return <const B extends object | undefined = undefined>(
    record: AnonymousOperationRecord<C, B>,
  ): AnonymousOperation<C> => record as AnonymousOperation<C>;
}

/** Returned by a handler whose status or headers vary. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** JSON text that is sent unchanged. */
export class JsonText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Nothing was changed, so the response is not stored under an idempotency key: a repeated request may run again. */
export class Unkept extends Reply {}

/** Pieces are created as the reader takes them. A failure after the first one resets the connection. */
export class Streamed {
  readonly pieces: AsyncGenerator<string, void, undefined>;

  constructor(pieces: AsyncGenerator<string, void, undefined>) {
    this.pieces = pieces;
  }
}

export function created<T extends { id: string }>(collection: string, resource: T): Reply {
  return new Reply(201, resource, { Location: `${collection}/${encodeURIComponent(resource.id)}` });
}

/**
 * The result of `barrier` of @sluice/cache-coherence, declared again because this package does not import caches: no
 * process serves the old state any more.
 */
export interface Confirmation {
  changeId: string;
  holders: number;
  waitedMs: number;
}

export class Confirmed {
  readonly confirmation: Confirmation;
  readonly result: unknown;

  constructor(confirmation: Confirmation, result?: unknown) {
    this.confirmation = confirmation;
    this.result = result;
  }
}
