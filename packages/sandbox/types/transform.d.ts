/**
 * What a transform gets and returns. This is a script, so every file beside it knows these names. For example:
 *
 *     /** @type {RequestTransform} *\/
 *     module.exports = async ({ args, configuration }) => ({ body: { ...args.body, merchant: configuration.MERCHANT } });
 */

/** The function that a request transform exports. */
type RequestTransform = Transform<TransformRequestArgs>;

/** The function that a response transform exports. */
type ResponseTransform = Transform<TransformResponseArgs>;

/**
 * An async function. It returns an object with `body`, with `headers`, or with both; beside them only `method`, `path` and
 * `query` as they came, as in `{ ...args, body }`. Anything else, such as the body itself, fails with 500.
 */
type Transform<Args> = (req: TransformRequest<Args>) => Promise<TransformOutput>;

interface TransformRequest<Args> {
  readonly args: Args;
  /** The configuration of the Proxy; empty when it has none. */
  readonly configuration: Readonly<Record<string, string>>;
  /** The client of the service, with the permissions of the Application that the Proxy names; absent without one. */
  readonly svc?: TransformClient;
}

interface TransformResponseArgs {
  /** Parsed JSON; for a form an object, with lists for repeated fields; for other text a string; without a body `{}`. */
  // biome-ignore lint/suspicious/noExplicitAny: callers send any value, and code that reads it need not prove more.
  body: any;
  /**
   * Names are in lower case. Several lines of one name are joined; those of `set-cookie` are a list; where a header may
   * stand once, such as `content-type`, the first counts. Headers about the connection are left out, and so is what
   * `Connection` names.
   */
  headers: TransformHeaders;
}

interface TransformRequestArgs extends TransformResponseArgs {
  method: string;
  /** The path after `/proxy`, as it was sent; '' when there is none. */
  path: string;
  /** The query with its `?`, without the proxy key; '' when there is none. */
  query: string;
}

type TransformHeaders = Record<string, string | string[] | undefined>;

interface TransformOutput {
  /**
   * Any JSON value, but not undefined. A string is sent as it is, except where the original was a JSON string and the result is JSON: there
   * it is JSON again. Without it the original body stays. A new body loses `ETag`, `Last-Modified`, `Content-MD5`, digests
   * and `Accept-Ranges`, unless `headers` has other values for them.
   */
  body?: unknown;
  /**
   * Replaces all headers of the original. Names are case-insensitive, and the last one wins; null removes a header, a list
   * makes several lines. Without it the original headers stay; undefined is an error.
   */
  headers?: Record<string, TransformHeaderValue | readonly TransformHeaderValue[] | null | undefined>;
}

type TransformHeaderValue = string | number | boolean;

/** A call that the Application may not make rejects with an Error that has `status` and `code`. */
interface TransformClient {
  readonly tokens: {
    create(token: TransformToken): Promise<TransformToken & { id: string }>;
    retrieve(id: string): Promise<TransformToken & { id: string }>;
    update(id: string, patch: Partial<TransformToken>): Promise<TransformToken & { id: string }>;
    delete(id: string): Promise<void>;
  };
  /** Replaces each string, number or boolean by the id of a new token, and each object with `type` and `data` by a new token. */
  // biome-ignore lint/suspicious/noExplicitAny: its form is that of the value.
  tokenize(value: unknown): Promise<any>;
  /** Replaces each expression `{{ token id }}` in the value by what the Application may read of the token. */
  // biome-ignore lint/suspicious/noExplicitAny: as for tokenize.
  detokenize(value: unknown): Promise<any>;
}

interface TransformToken {
  type?: string;
  data?: unknown;
  [member: string]: unknown;
}

/** When a transform throws one of these, the caller gets a `proxy_error` with its status, or the whole answer. */
declare module 'svc-errors' {
  /** Messages by member, for example `{ 'card.number': ['is wrong'] }`. */
  type FieldErrors = Record<string, string | string[]>;
  class ServiceError extends Error {
    constructor(message?: string, errors?: FieldErrors | { errors: FieldErrors });
    constructor(errors: FieldErrors | { errors: FieldErrors });
    readonly status: number;
    readonly errors: Record<string, string[]> | undefined;
  }
  /** 400 */
  export class BadRequestError extends ServiceError {}
  /** 401 */
  export class AuthenticationError extends ServiceError {}
  /** 403 */
  export class AuthorizationError extends ServiceError {}
  /** 429 */
  export class RateLimitError extends ServiceError {}
  /** 500 */
  export class TransformRuntimeError extends ServiceError {}
  /** The whole answer to the caller. */
  export class CustomHttpResponseError extends Error {
    constructor(response?: { status?: number; headers?: TransformOutput['headers']; body?: unknown });
    readonly status: number;
  }
}
