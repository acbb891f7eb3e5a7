import type { PermissionType } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { ErrorCode } from '@sluice/problems';
import type { TypeOf } from './schema-type.ts';

type Typed<S, Otherwise> = S extends object ? TypeOf<S> : Otherwise;

/** What metrics and traces call an operation: `POST /tokens`. */
export function operationName({ method, path }: { method: string; path: string }): string {
  return `${method.toUpperCase()} ${path}`;
}

/** Largest body of an operation that names no other: 1 MiB. */
export const defaultBodyLimitBytes = 1024 * 1024;

/** A committed change that still has to be confirmed by every process that caches. */
export interface PendingChange {
  id: string;
  tenantIds: readonly string[];
  tags: readonly string[];
}

/**
 * Stores the answer in the transaction of the change, so that a request that is repeated under its idempotency key never
 * acts twice, whatever happened to its first answer.
 */
export type SettleAnswer = (tx: Queryable, result: unknown, change?: PendingChange) => Promise<void>;

/** The input of a handler, all of it checked. */
export interface OperationInput<P, Q, B> {
  params: Typed<P, Record<string, never>>;
  query: Typed<Q, Record<string, never>>;
  body: Typed<B, undefined>;
  /** How many bytes of body were sent. */
  bodyBytes: number;
  caller: Caller;
  traceId: string;
  /** The IP address that the request comes from. */
  address: () => string;
  /** The media type of the answer: where there are several, the one that the caller likes best, or the first. */
  accepted: string;
  /** A handler that creates something must call it. Undefined when the request has no idempotency key. */
  settle: SettleAnswer | undefined;
}

type MediaType = 'application/json' | 'text/plain' | 'application/x-ndjson' | 'text/csv';

/** What an operation is, apart from its handler. */
export interface OperationFacts<P, Q, B> {
  id: string;
  /** The group of the API reference that it is in: the resource. */
  tag: string;
  summary: string;
  /** What the summary and the schemas do not say, in Markdown. Our headers are written with the prefix SVC. */
  description?: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path, for example `/applications/:id`. */
  path: string;
  /** What the caller's Application must hold; absent where a valid key is enough. */
  permission?: PermissionType;
  /** Whose key it takes, where it is not any: of an Application of this type, or of a session. */
  takesKeyOf?: Caller['type'];
  params?: P;
  query?: Q;
  body?: B;
  /** A request without a body is one with `{}`. */
  bodyOptional?: boolean;
  /** Media type of the body. `application/json` also takes any `+json`. */
  consumes?: 'application/json' | 'application/merge-patch+json';
  /** Media type of the answer, or those that a caller may choose from by `Accept`; a text is sent as it is. */
  produces?: MediaType | readonly MediaType[];
  /** Largest body in bytes; default 1 MiB. */
  bodyLimitBytes?: number;
  /** Top-level members that are only passed on, so that they may hold any text, even NUL and lone surrogates. */
  opaque?: readonly string[];
  /** False where a repetition is harmless and the answer holds values. Otherwise POST, PUT and PATCH take an idempotency key. */
  idempotent?: boolean;
  /** Browsers of any origin may call it. */
  cors?: boolean;
  /** It changes what processes cache, and answers once none serves the old state: its handler returns {@link Confirmed}. */
  confirmed?: boolean;
  /** Success status and the schema of its body; `null` for no body. */
  response: { readonly [status: number]: object | null };
  /** What else it can fail with, beside what every operation can. */
  errors?: readonly ErrorCode[];
}

/**
 * One operation of the API, as data: the route, the permission check, the validation, the 415, the documentation and
 * the type of `handle` all come from this record, so that none of them can disagree.
 */
export interface OperationRecord<C, P, Q, B> extends OperationFacts<P, Q, B> {
  /** What of an answer may be kept for a day under an idempotency key, where not all of it may. */
  keep?(body: unknown): unknown;
  /** What of a kept answer may still be told, where that changes with time. */
  replay?(body: unknown, context: C): Promise<unknown>;
  handle(input: OperationInput<P, Q, B>, context: C): Promise<unknown>;
}

/** An operation whose input types are no longer known: what a list of operations holds. */
export interface Operation<C> extends OperationFacts<object, object, object> {
  keep?(body: unknown): unknown;
  replay?(body: unknown, context: C): Promise<unknown>;
  handle(input: never, context: C): Promise<unknown>;
}

/** Whose keys these are, in words. */
export function keyHolderOf(type: Caller['type']): string {
  return type === 'session' ? 'a session' : `a \`${type}\` Application`;
}

/** Whether a request may carry an idempotency key. */
export function takesIdempotencyKey({ method, idempotent }: Pick<Operation<never>, 'method' | 'idempotent'>): boolean {
  return idempotent !== false && (method === 'post' || method === 'put' || method === 'patch');
}

/** The function with which a service writes its operation records: `const operation = operationsOf<Context>()`. */
export function operationsOf<C>() {
  return <
    const P extends object | undefined = undefined,
    const Q extends object | undefined = undefined,
    const B extends object | undefined = undefined,
  >(
    record: OperationRecord<C, P, Q, B>,
  ): Operation<C> => record as Operation<C>;
}

/** What a handler returns when the status or a header depends on what happened. */
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
 * What a handler returns for an answer of any length: text in pieces, each made when the reader has taken the one before.
 * A failure before the first piece is answered with a problem. A later one resets the connection, so that no reader takes a
 * part for the whole. A piece may be empty.
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

/** How a change was confirmed: no process serves the old state any more. */
export interface Confirmation {
  changeId: string;
  /** How many processes cached at that moment. */
  holders: number;
  waitedMs: number;
}

/** What a handler returns for a change that has been confirmed; the answer says so in a header. */
export class Confirmed {
  readonly confirmation: Confirmation;
  readonly result: unknown;

  constructor(confirmation: Confirmation, result?: unknown) {
    this.confirmation = confirmation;
    this.result = result;
  }
}
