/**
 * What a transform gets and gives. A script, not a module: a file beside it knows these names, for example
 *
 *     /** @type {RequestTransform} *\/
 *     module.exports = async ({ args, configuration }) => ({ body: { ...args.body, merchant: configuration.MERCHANT } });
 */

/** The function that a request transform exports. */
type RequestTransform = Transform<TransformRequestArgs>;

/** The function that a response transform exports. */
type ResponseTransform = Transform<TransformResponseArgs>;

/** An async function. Undefined, or another value that is no object, is an error. */
type Transform<Args> = (req: TransformRequest<Args>) => Promise<TransformOutput>;

interface TransformRequest<Args> {
  readonly args: Args;
  /** The Proxy's configuration; empty where it has none. */
  readonly configuration: Readonly<Record<string, string>>;
  /** The client of the service; only where the Proxy names an Application, whose permissions it has. */
  readonly svc?: TransformClient;
}

interface TransformResponseArgs {
  /** Parsed JSON; an object for a form, with lists for repeated fields; a string for other text; `{}` for no body. */
  // biome-ignore lint/suspicious/noExplicitAny: it is whatever is sent, and code that reads it need not prove more.
  body: any;
  /** Names in lower case; several lines of one name are joined, those of `set-cookie` are a list. */
  headers: TransformHeaders;
}

interface TransformRequestArgs extends TransformResponseArgs {
  method: string;
  /** What follows `/proxy` in the path, as it was sent; '' where nothing does. */
  path: string;
  /** With its `?`, less the proxy key; '' where there is none. */
  query: string;
}

type TransformHeaders = Record<string, string | string[] | undefined>;

interface TransformOutput {
  /** Any JSON value; text goes as it is. Left out: the original stays. */
  body?: unknown;
  /**
   * In place of all of the original's. Names are case-insensitive and the last wins; null removes, a list makes several
   * lines. Left out: the original's stay.
   */
  headers?: Record<string, TransformHeaderValue | readonly TransformHeaderValue[] | null | undefined>;
}

type TransformHeaderValue = string | number | boolean;

/** Each call rejects with an Error that has `status` and `code` where the Application may not do it, or is gone. */
interface TransformClient {
  readonly tokens: {
    create(token: TransformToken): Promise<TransformToken & { id: string }>;
    retrieve(id: string): Promise<TransformToken & { id: string }>;
    update(id: string, patch: Partial<TransformToken>): Promise<TransformToken & { id: string }>;
    delete(id: string): Promise<void>;
  };
  /** Each string, number or boolean becomes the id of a new token, each object with `type` and `data` a new token. */
  // biome-ignore lint/suspicious/noExplicitAny: its form is that of the value.
  tokenize(value: unknown): Promise<any>;
  /** Each expression `{{ token id }}` in the value becomes what the Application may read of the token. */
  // biome-ignore lint/suspicious/noExplicitAny: as for tokenize.
  detokenize(value: unknown): Promise<any>;
}

interface TransformToken {
  type?: string;
  data?: unknown;
  [member: string]: unknown;
}

/** Thrown, they are what the caller is answered: `proxy_error` with their status, or the whole answer. */
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
