import type { CallOptions } from './call-options.ts';
import { ConnectionError, errorOf, type SluiceError, TimeoutError } from './errors.ts';

/** A request, and what the service allows to be done with it. */
export interface Sendable {
  /** For messages: `POST /tokens`. */
  operation: string;
  url: string;
  init: RequestInit & { method: string };
  /** Whether sending it again has no further effect. */
  isRepeatable: boolean;
  headerPrefix: string;
  /** Where the installation serves its documentation. */
  docsUrl: string;
  fetch: typeof fetch;
}

/**
 * The result of an attempt: an answer, or an error with whether a retry may help and whether the service may have
 * acted.
 */
type Outcome<T> = { answer: T } | { error: SluiceError; mayHelp: boolean; wasLost: boolean };

const longestWaitMs = 10_000;
const shortestWaitMs = 200;

/**
 * Sends a request until it is answered: after 429, 503 and lost connections, and only if it is repeatable. An attempt
 * whose answer was lost may have been carried out, so errors that follow from that count as success.
 * @throws {SluiceError} or the reason of the caller's signal.
 */
export async function send<T>(
  request: Sendable,
  read: (response: Response) => Promise<T>,
  options: CallOptions & { timeoutMs: number; retries: number },
): Promise<T | undefined> {
  const { signal: given, timeoutMs, retries } = options;
  const deadline = Date.now() + timeoutMs;
  const timeout = new AbortController();
  const signal = given ? AbortSignal.any([given, timeout.signal]) : timeout.signal;
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    for (let attempt = 0, wasLost = false; ; attempt++) {
      const outcome = await tryOnce(request, read, signal);
      if ('answer' in outcome) return outcome.answer;
      given?.throwIfAborted();
      if (timeout.signal.aborted) throw timedOut(request.operation, timeoutMs);
      const { error } = outcome;
      if (wasLost && saysDone(request, error)) return undefined;
      const { retryAfterSeconds } = error;
      const waitMs = retryAfterSeconds === undefined ? backoffMs(attempt) : retryAfterSeconds * 1000;
      const mayHelp = outcome.mayHelp || (wasLost && saysUnderWay(error));
      const isWorthIt = mayHelp && attempt < retries && Date.now() + waitMs < deadline;
      if (!isWorthIt || !request.isRepeatable) throw error;
      wasLost ||= outcome.wasLost;
      await wait(waitMs, signal);
      given?.throwIfAborted();
    }
  } finally {
    // An answer that is returned as a stream has no time limit.
    clearTimeout(timer);
  }
}

/** A lost DELETE was carried out: the resource is gone, or the key that ended itself is refused. */
function saysDone({ url, init }: Sendable, { status }: SluiceError): boolean {
  if (init.method !== 'DELETE') return false;
  return status === 404 || (status === 401 && url.endsWith('/self'));
}

/** The service still works on the lost attempt, which has the same idempotency key, and says when to ask again. */
function saysUnderWay({ status, retryAfterSeconds }: SluiceError): boolean {
  return status === 409 && retryAfterSeconds !== undefined;
}

async function tryOnce<T>(
  { operation, url, init, headerPrefix, docsUrl, fetch }: Sendable,
  read: (response: Response) => Promise<T>,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  try {
    // Redirects are not followed, because headers, including the key, would be sent to their target.
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    if (response.ok) return { answer: await read(response) };
    const error = await toError(response, { operation, headerPrefix, docsUrl });
    const isDestinations = response.headers.has(`${headerPrefix}-PROXY-DESTINATION-STATUS`);
    const mayHelp = !isDestinations && (error.status === 429 || error.status === 503);
    // 503 also means that a service was lost, which may have acted.
    return { error, mayHelp, wasLost: error.status === 503 };
  } catch (cause) {
    if (cause instanceof UnreadableAnswer) {
      const title = 'The answer is not one of the API; is the base URL right?';
      return { error: errorOf({ operation, title, status: cause.status }), mayHelp: false, wasLost: false };
    }
    // Only the code is taken from errors of a custom fetch, because they may contain the request and so the key.
    const code = codeOf(cause);
    const title = `no answer${code ? ` (${code})` : ''} from ${new URL(url).origin}`;
    return { error: new ConnectionError({ operation, code, title }), mayHelp: true, wasLost: true };
  }
}

/** The answer is not one of this API. It is not quoted, because it could be anything. */
export class UnreadableAnswer extends Error {
  readonly status: number;

  constructor(status: number) {
    super('The answer cannot be read');
    this.status = status;
  }
}

/** What a response does not say of its request. */
interface Asked {
  operation: string;
  headerPrefix: string;
  docsUrl: string;
}

async function toError(response: Response, asked: Asked): Promise<SluiceError> {
  const { status } = response;
  const { operation } = asked;
  if (status === 0 || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    return errorOf({ operation, status, title: 'The base URL redirects; give the address to which it leads' });
  }
  const problem = parseObject(await response.text());
  return errorIn((problem.proxy_error ?? problem) as Record<string, unknown>, { ...asked, response });
}

/** The error for the problem document in a response. */
export function errorIn(
  { type, title, detail, instance, errors }: Record<string, unknown>,
  { operation, response, headerPrefix, docsUrl }: Asked & { response: Response },
): SluiceError {
  const { status, headers } = response;
  const code = typeof type === 'string' ? type.split(':').at(-1) : undefined;
  const traceHeader = headers.get(`${headerPrefix}-TRACE-ID`) ?? undefined;
  return errorOf({
    operation,
    status,
    code,
    title: typeof title === 'string' ? title : `The service answered ${status}`,
    detail: typeof detail === 'string' ? detail : undefined,
    errors: messagesOf(errors),
    traceId: typeof instance === 'string' ? instance : traceHeader,
    retryAfterSeconds: secondsOf(headers.get('Retry-After')),
    help: isOurs(type) ? `${docsUrl}/errors#${code}` : undefined,
  });
}

/** Not a document of a balancer. */
function isOurs(type: unknown): boolean {
  return typeof type === 'string' && /^urn:sluice:problem:[a-z_]{1,60}$/.test(type);
}

/** The members that are lists of texts, because a balancer's document may have `errors` of another form. */
function messagesOf(errors: unknown): Record<string, string[]> | undefined {
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) return undefined;
  const isMessages = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
  const known = Object.entries(errors).filter(([, messages]) => isMessages(messages));
  return known.length > 0 ? (Object.fromEntries(known) as Record<string, string[]>) : undefined;
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // for example a balancer's page, whose status says enough
  }
}

/** RFC 9110 section 5.6.7. `Date.parse` reads much more, and takes a date without zone for a local one. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d (?:\d{4}|GMT)$/;

/** `Retry-After` is seconds or an HTTP date (RFC 9110 section 10.2.3). Anything else counts as absent. */
function secondsOf(header: string | null): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = httpDate.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

/** For example `ECONNREFUSED`, which Node's fetch puts into the cause of its error. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : undefined) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(at.code)) return at.code;
  }
  return undefined;
}

function timedOut(operation: string, timeoutMs: number): TimeoutError {
  return new TimeoutError({ operation, title: `no answer within ${timeoutMs} ms` });
}

/** Doubles with each attempt, with random variation so that clients do not return together. */
function backoffMs(attempt: number): number {
  return Math.min(longestWaitMs, shortestWaitMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Resolves early when the signal is aborted; the caller checks it. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
