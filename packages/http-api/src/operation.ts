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

/** Stores the answer in the transaction of the change, so that a repeated request never acts twice. */
export type SettleAnswer = (tx: Queryable, result: unknown, change?: PendingChange) => Promise<void>;

/** Reserves memory for what is read or made for the answer, until it is sent; undefined if there is room at once. */
export type Hold = (bytes: number) => Promise<void> | undefined;

/**
 * Call after a wait, because the key may have been revoked; undefined if the caller is known at once. In a transaction
 * pass that, so that it waits for no second connection.
 * @throws {ServiceError} 401 and 403 when the caller may no longer call the operation; 503 for changed rights.
 */
type CheckCallerAgain = (tx?: Queryable) => Promise<void> | undefined;

export interface OperationInput<P, Q, B> {
  params: Typed<P, Record<string, never>>;
  query: Typed<Q, Record<string, never>>;
  body: Typed<B, undefined>;
  bodyBytes: number;
  caller: Caller;
  traceId: string;
  address: () => string;
  /** The media type that the caller prefers among several, or the first. */
  accepted: string;
  hold: Hold;
  checkCallerAgain: CheckCallerAgain;
  /** `act` is called when the connection has closed, at once if it already has, and also after the answer. */
  whenLeft: (act: () => void) => void;
  /** Must be called by a handler that creates something. Undefined without an idempotency key. */
  settle: SettleAnswer | undefined;
}

type Known = OperationInput<undefined, undefined, undefined>;
export type Asking = Pick<Known, 'caller' | 'traceId' | 'hold' | 'checkCallerAgain'>;
/** For changes. */
export type Acting = Pick<Known, 'caller' | 'traceId' | 'checkCallerAgain'>;

type MediaType = 'application/json' | 'text/plain' | 'application/x-ndjson' | 'text/csv';

export interface OperationFacts<P, Q, B> {
  id: string;
  tag: string;
  summary: string;
  /** Markdown, beyond what summary and schemas say. Headers have the prefix SVC. */
  description?: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  /** Absent where any valid key is enough. */
  permission?: PermissionType;
  /** Only Applications of this type, or only sessions, may call it. */
  takesKeyOf?: Caller['type'];
  params?: P;
  query?: Q;
  body?: B;
  /** A missing body means `{}`. */
  bodyOptional?: boolean;
  /** `application/json` also accepts any `+json`. */
  consumes?: 'application/json' | 'application/merge-patch+json';
  /** `Accept` chooses among several. A text is sent as it is. */
  produces?: MediaType | readonly MediaType[];
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** Top-level members that are only passed on, so they may hold any text, even NUL and lone surrogates. */
  opaque?: readonly string[];
  /** False where repetition is harmless and the answer holds values. Default: true for POST, PUT and PATCH. */
  idempotent?: boolean;
  cors?: boolean;
  /** The handler returns {@link Confirmed}, because its change is confirmed before the answer. */
  confirmed?: boolean;
  /** Success status and the schema of its body; `null` for no body. */
  response: { readonly [status: number]: object | null };
  /** Failures besides those of every operation. */
  errors?: readonly ErrorCode[];
}

/** Route, permission check, validation, documentation and the type of `handle` all come from this record. */
export interface OperationRecord<C, P, Q, B> extends OperationFacts<P, Q, B> {
  /** Reduces an answer to what may be kept for a day under an idempotency key. */
  keep?(body: unknown): unknown;
  /** Reduces a kept answer to what its caller may still be told, which changes with time. */
  replay?(body: unknown, context: C, asking: Asking): Promise<unknown>;
  handle(input: OperationInput<P, Q, B>, context: C): Promise<unknown>;
}

export interface Operation<C> extends OperationFacts<object, object, object> {
  keep?(body: unknown): unknown;
  replay?(body: unknown, context: C, asking: Asking): Promise<unknown>;
  handle(input: never, context: C): Promise<unknown>;
}

export function keyHolderOf(type: Caller['type']): string {
  return type === 'session' ? 'a session' : `a \`${type}\` Application`;
}

export function takesIdempotencyKey({ method, idempotent }: Pick<Operation<never>, 'method' | 'idempotent'>): boolean {
  return idempotent !== false && (method === 'post' || method === 'put' || method === 'patch');
}

/** Its answer holds values and tells of no change, so it is only for a caller who may still see it. */
export function onlyReads({ method, idempotent }: Pick<Operation<never>, 'method' | 'idempotent'>): boolean {
  return method === 'get' || (method === 'post' && idempotent === false);
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

/** Pieces are made as the reader takes them. A failure after the first one resets the connection. */
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
 * What `barrier` of @sluice/cache-coherence answers, declared again because this package knows no caches: no process serves
 * the old state any more.
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
