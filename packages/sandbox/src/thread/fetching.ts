import { type Invocation, receive } from './invocation.ts';
import { withoutPool } from './message/transform-message.ts';

const mostUrlCharacters = 16_384;
const mostHeaderLines = 100;
const mostHeaderBytes = 16_384;
/** A byte of a body is one character, which takes six as an escape. Longer texts are not parsed. */
const escaped = 6;
const mostAroundBody = 65_536;
/** As many bodies of the largest size as the calls of a run may have open at a time. They are in the main thread's memory. */
const mostOpenBodies = 2;

type Sending = Pick<Invocation, 'fetches' | 'openBodies' | 'limits' | 'mayFetch'>;

/** The longest text that {@link beginFetch} reads, in UTF-16 units. */
export function longestRequest({ limits }: Pick<Sending, 'limits'>): number {
  return escaped * limits.fetchBytes + mostAroundBody;
}

/** `json` is undefined if it is too long. A call beyond the limits is answered at once, and the run continues. */
export function beginFetch(run: Invocation, id: number, json: string | undefined): void {
  run.awaitedCalls += 1;
  const request = run.fetches.size < run.limits.fetchCalls && json !== undefined ? readRequest(json) : undefined;
  const refusal = refusalOf(run, request);
  if (refusal !== undefined || !request) {
    answer(run, id, refusal ?? 'The request is not valid');
    return;
  }
  run.hostCalls += 1;
  run.fetches.set(id, 'begun');
  const { body, ...head } = request;
  run.openBodies.set(id, body?.byteLength ?? 0);
  run.send({ id, operation: 'fetch', payloadJson: JSON.stringify(head), ...(body && { body }) });
}

/** Can be called once for each call, because a response has one body. */
export function readFetched(run: Invocation, id: number, call: number): void {
  run.awaitedCalls += 1;
  if (run.fetches.get(call) !== 'begun') {
    answer(run, id, 'The response to this call of fetch was already read or aborted, or belongs to another run');
    return;
  }
  run.fetches.set(call, 'reading');
  run.send({ id, operation: 'fetch.body', payloadJson: String(call) });
}

export function abortFetch(run: Invocation, call: number): void {
  const state = run.fetches.get(call);
  if (state === undefined || state === 'aborted') return;
  run.fetches.set(call, 'aborted');
  run.send({ id: call, operation: 'fetch.abort', payloadJson: String(call) });
}

function refusalOf(
  { fetches, openBodies, limits, mayFetch }: Sending,
  request: ReadRequest | undefined,
): string | undefined {
  if (!mayFetch) return 'A test run cannot call fetch';
  if (fetches.size >= limits.fetchCalls) return `A run may call fetch at most ${limits.fetchCalls} times`;
  if (!request || (request.body?.byteLength ?? 0) > limits.fetchBytes)
    return `A body may have at most ${limits.fetchBytes} bytes`;
  const open = [...openBodies.values()].reduce((sum, size) => sum + size, 0);
  if (open + (request.body?.byteLength ?? 0) > mostOpenBodies * limits.fetchBytes)
    return `The bodies of all open calls may have at most ${mostOpenBodies * limits.fetchBytes} bytes in total`;
  if (request.url.length > mostUrlCharacters) return `A URL may have at most ${mostUrlCharacters} characters`;
  const bytes = request.headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  if (request.headers.length > mostHeaderLines || bytes > mostHeaderBytes)
    return `A request may have at most ${mostHeaderLines} headers, with at most ${mostHeaderBytes} bytes in total`;
  return undefined;
}

function answer(run: Invocation, id: number, message: string): void {
  receive(run, { hostKey: '', id, ok: false, json: JSON.stringify({ message }) });
}

interface ReadRequest {
  url: string;
  method: string;
  headers: [string, string][];
  body: Uint8Array | undefined;
}

/** Checks each member, because the Tenant's code may have changed what the guest's files use. */
function readRequest(json: string): ReadRequest | undefined {
  const { url, method, headers, text, latin1 } = JSON.parse(json);
  if (typeof url !== 'string' || typeof method !== 'string' || !Array.isArray(headers)) return undefined;
  if (!headers.every((line) => Array.isArray(line) && line.length === 2 && line.every(isText))) return undefined;
  const bodyOf = isText(text) ? Buffer.from(text) : isText(latin1) ? Buffer.from(latin1, 'latin1') : undefined;
  return { url, method, headers, body: bodyOf && withoutPool(bodyOf) };
}

const isText = (value: unknown): value is string => typeof value === 'string';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** For the guest: as text if it is valid UTF-8, otherwise with a character for each byte. */
export function fetchedJson(bytes: Uint8Array): string {
  try {
    return JSON.stringify({ text: utf8.decode(bytes) });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify({ latin1: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1') });
  }
}
