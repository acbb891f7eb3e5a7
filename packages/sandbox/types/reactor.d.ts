/**
 * What the code of a reactor gets and returns, and the `fetch` that only reactors have. For example:
 *
 *     /** @type {Reactor<{ RATE: number }>} *\/
 *     module.exports = async ({ args, configuration }) => ({ raw: { fee: args.amount * configuration.RATE } });
 */

/** The async function that a reactor exports. A `CustomHttpResponseError` is for transforms: here it fails with 500. */
type Reactor<Configuration = Readonly<Record<string, string | number | boolean>>> = (
  req: ReactorRequest<Configuration>,
) => Promise<ReactorResult>;

interface ReactorRequest<Configuration> {
  /** What the caller sent, with values in place of its expressions; `{}` where it sent none. */
  // biome-ignore lint/suspicious/noExplicitAny: callers send any value, and code that reads it need not prove more.
  readonly args: any;
  /** The configuration of the reactor; empty when it has none. */
  readonly configuration: Configuration;
  /** The client of the service, with the permissions of the Application that the reactor names; absent without one. */
  readonly svc?: TransformClient;
}

/** Each member is any JSON value, and optional. */
interface ReactorResult {
  raw?: unknown;
  body?: unknown;
  headers?: unknown;
  /** Becomes tokens of the caller, as in `/tokenize`: all of it or nothing. The caller gets them as `tokens`. */
  tokenize?: unknown;
}

/** At most 20 calls a run. No redirect is followed; with `redirect: 'error'` one rejects. */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

type HeadersInit = Headers | Iterable<readonly [string, unknown]> | Record<string, unknown>;
type BodyInit = string | ArrayBuffer | ArrayBufferView | URLSearchParams;

interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  signal?: AbortSignal | null;
  redirect?: 'follow' | 'error' | 'manual';
}
interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}

declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: unknown): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: unknown): void;
  forEach(run: (value: string, name: string, all: Headers) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

/** Of a request or response. It can be read once. */
interface Body {
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: the destination sends any value.
  json(): Promise<any>;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

interface Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly redirect: string;
  clone(): Request;
}
declare const Request: { new (input: string | URL | Request, init?: RequestInit): Request };

interface Response extends Body {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly url: string;
  readonly type: string;
  readonly redirected: boolean;
  clone(): Response;
}
declare const Response: {
  new (body?: BodyInit | null, init?: ResponseInit): Response;
  json(data: unknown, init?: ResponseInit): Response;
  error(): Response;
  redirect(url: string | URL, status?: number): Response;
};
