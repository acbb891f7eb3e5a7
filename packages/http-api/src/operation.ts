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

/** Reserves memory for what is read or made for the answer, until it is sent; undefined where there is room. */
export type Hold = (bytes: number) => Promise<void> | undefined;

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
  /** A handler that creates something must call it. Undefined when the request has no idempotency key. */
  settle: SettleAnswer | undefined;
}

/** Who asks for an answer again that is kept under an idempotency key. */
export type Asking = Pick<OperationInput<undefined, undefined, undefined>, 'caller' | 'traceId' | 'hold'>;

type MediaType = 'application/json' | 'text/plain' | 'application/x-ndjson' | 'text/csv';

export interface OperationFacts<P, Q, B> {
  id: string;
  /** The resource, which is a group of the API reference. */
  tag: string;
  summary: string;
  /** Markdown, for what summary and schemas do not say. Headers are written with the prefix SVC. */
  description?: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  /** The permission that the caller must hold; absent where any valid key is enough. */
  permission?: PermissionType;
  /** Restricts the caller to Applications of this type, or to sessions. */
  takesKeyOf?: Caller['type'];
  params?: P;
  query?: Q;
  body?: B;
  /** A missing body means `{}`. */
  bodyOptional?: boolean;
  /** Media type of the body. `application/json` also accepts any `+json`. */
  consumes?: 'application/json' | 'application/merge-patch+json';
  /** `Accept` chooses among several. A text is sent as it is. */
  produces?: MediaType | readonly MediaType[];
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  /** Top-level members that are only passed on, so that they may hold any text, even NUL and lone surrogates. */
  opaque?: readonly string[];
  /** False where repetition is harmless and the answer holds values. Default: true for POST, PUT and PATCH. */
  idempotent?: boolean;
  /** Browsers may call it. */
  cors?: boolean;
  /** The change is confirmed before the answer: the handler returns {@link Confirmed}. */
  confirmed?: boolean;
  /** Success status and the schema of its body; `null` for no body. */
  response: { readonly [status: number]: object | null };
  /** Failures besides those of every operation. */
  errors?: readonly ErrorCode[];
}

/**
 * An operation of the API as data. The route, the permission check, the validation, the 415, the documentation and the
 * type of `handle` all come from this record, so that they cannot disagree.
 */
export interface OperationRecord<C, P, Q, B> extends OperationFacts<P, Q, B> {
  /** Reduces an answer to what may be kept for a day under an idempotency key. */
  keep?(body: unknown): unknown;
  /** Reduces a kept answer to what its caller may still be told, because that changes with time. */
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

/** Types the records of a service: `const operation = operationsOf<Context>()`. */
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

/**
 * For an answer of any length: each piece of text is made once the reader has taken the previous one, and may be empty. A
 * failure before the first piece is answered with a problem. A later failure resets the connection, so that no reader
 * takes a part for the whole.
 */
export class Streamed {
  readonly pieces: AsyncGenerator<string, void, undefined>;

  constructor(pieces: AsyncGenerator<string, void, undefined>) {
    this.pieces = pieces;
  }
}

/** 201 with the resource and its `Location`. */
export function created<T extends { id: string }>(collection: string, resource: T): Reply {
  return new Reply(201, resource, { Location: `${collection}/${encodeURIComponent(resource.id)}` });
}

/** No process serves the old state any more. */
export interface Confirmation {
  changeId: string;
  /** The number of caching processes at that moment. */
  holders: number;
  waitedMs: number;
}

/** The change is confirmed; a header of the answer says so. */
export class Confirmed {
  readonly confirmation: Confirmation;
  readonly result: unknown;

  constructor(confirmation: Confirmation, result?: unknown) {
    this.confirmation = confirmation;
    this.result = result;
  }
}
