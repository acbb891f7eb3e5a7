import { ConnectionError, type Sluice } from '@sluice/sdk';
import { codeOf, RefusedError } from '../failure.ts';
import { type Answer, answerOf } from './answer.ts';
import { throwRefusal } from './refusal.ts';

export interface RouteCall {
  route: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | object;
}

interface Calling {
  /** With the key of a session. */
  client: Sluice;
  headerPrefix: string;
  /** Nothing is waited for beyond it. */
  until: AbortSignal;
}

/** Headers of the connection, which are not the caller's. */
const ofConnection = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const ofKeys = ['authorization', 'x-api-key'];

/**
 * Makes the call, once.
 * @throws {SluiceError} where Sluice refuses it, {RefusedError} where it is not sent, and the reason of `until` where no
 * answer has come by then.
 */
export async function callRoute(call: RouteCall, { client, headerPrefix, until }: Calling): Promise<Answer> {
  const { route, method, path, body } = call;
  const headers = headersOf(call, headerPrefix);
  // A body that does not end must not lose what has arrived of it, so the limit ends only the wait for the head.
  const waiting = new AbortController();
  const stop = () => waiting.abort(until.reason);
  until.addEventListener('abort', stop, { once: true });
  try {
    until.throwIfAborted();
    const init = { method, headers, signal: waiting.signal, ...(body !== undefined && { body: textOf(body) }) };
    const response = await client.route(route).fetch(path, init);
    const isOfDestination = response.headers.has(`${headerPrefix}-PROXY-DESTINATION-STATUS`);
    const received = isOfDestination ? response : await throwRefusal(response, `${method} /routes/${route}`);
    until.removeEventListener('abort', stop);
    const answer = await answerOf(received, until);
    return isFromBefore(response, headerPrefix) ? { ...answer, isError: true } : answer;
  } catch (error) {
    if (until.aborted) throw until.reason;
    throw asFailure(error);
  } finally {
    until.removeEventListener('abort', stop);
  }
}

function headersOf({ headers = {}, body }: RouteCall, headerPrefix: string): Headers {
  const prefixes = ['svc-', `${headerPrefix.toLowerCase()}-`];
  const checked = new Headers(body === undefined ? {} : { 'Content-Type': 'application/json' });
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (ofKeys.includes(lower) || prefixes.some((prefix) => lower.startsWith(prefix)))
      throw new RefusedError(
        `The header ${lower} is not allowed: Sluice sets the credentials of a call. Leave it out.`,
      );
    if (ofConnection.includes(lower))
      throw new RefusedError(`The header ${lower} is not allowed: it belongs to the connection. Leave it out.`);
    setHeader(checked, name, value);
  }
  return checked;
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new RefusedError('The name or the value of a header contains characters that HTTP does not allow');
  }
}

function textOf(body: string | object): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/**
 * A failure from before the Proxy. Answers that a transform gives in the destination's place have a trace, and count as
 * the destination's.
 */
function isFromBefore({ status, headers }: Response, headerPrefix: string): boolean {
  const isOfProxy = ['PROXY-DESTINATION-STATUS', 'TRACE-ID'].some((name) => headers.has(`${headerPrefix}-${name}`));
  return status >= 400 && !isOfProxy;
}

/** fetch rejects with a TypeError for what it does not send, and for a connection that is lost. */
function asFailure(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  if (error.message === 'terminated')
    return new RefusedError(
      'The response was interrupted before its end, so it is not shown. The destination has acted.',
    );
  const code = codeOf(error.cause);
  if (code === undefined && error.message !== 'fetch failed') return new RefusedError(error.message);
  const title = `no response${code ? ` (${code})` : ''}; the destination may or may not have been called`;
  return new ConnectionError({ operation: 'call', title });
}
