import type { Reservation } from '@sluice/body-bytes';
import { ServiceError } from '@sluice/problems';
import type { FetchAnswer, FetchHost, FetchRequest } from '@sluice/sandbox';
import type { Context } from '../context.ts';
import { AnswerStream, forward } from '../destination/index.ts';
import { codingsOf, decodeBody } from '../http/content-coding.ts';
import { inPairs } from '../http/header-list.ts';
import type { StreamedAnswer } from '../http/message.ts';
import { copies } from '../limits/body-memory.ts';
import { collectBody } from '../limits/collect-body.ts';

/** Limit for the body of one response, both as received and decoded. */
const mostBytes = 5 * 2 ** 20;

export type Fetching = Pick<Context, 'destinations' | 'bodyBytes'>;

export interface FetchingRun {
  tenantId: string;
  reactorId: string;
  callerId: string;
  noCallerWaits: boolean | undefined;
  cdnLoop: string;
  /** Awaited before each call. If it rejects, the call rejects with the same error. */
  beforeEffect(): Promise<void>;
  /** Called when the call has its connection, before anything is sent. @throws if the caller's rights have ended. */
  look(): Promise<void>;
}

export interface Fetches {
  fetch: FetchHost;
  /** Calls that were sent, and where to. */
  readonly calls: number;
  readonly hosts: ReadonlySet<string>;
}

/** Calls destinations as an invocation does: with the same policy, limits, TLS and rules for headers. */
export function fetchesOf(run: FetchingRun, context: Fetching): Fetches {
  const hosts = new Set<string>();
  let calls = 0;

  async function fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchAnswer> {
    const url = checkUrl(request);
    const body = request.body && Buffer.from(request.body.buffer, request.body.byteOffset, request.body.byteLength);
    const memory = await reserve(context, run, body?.length ?? 0);
    try {
      await run.beforeEffect();
      if (signal.aborted) throw aborted();
    } catch (error) {
      memory.release();
      throw error;
    }
    const onTurn = async () => {
      await run.look();
      calls += 1;
      hosts.add(url.host);
    };
    const answer = new AnswerStream({ onTurn });
    const outgoing = {
      tenantId: run.tenantId,
      proxyId: run.reactorId,
      callerId: run.callerId,
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method,
      headers: context.destinations.headers.request(withDefaults(request.headers)),
      body: body && body.length > 0 ? body : undefined,
      cdnLoop: run.cdnLoop,
      noCallerWaits: run.noCallerWaits,
    };
    const head = answer.follow(forward(outgoing, context.destinations, answer));
    return answerFor(head, { memory, signal, abort: () => answer.abort(aborted()) });
  }

  return {
    fetch,
    get calls() {
      return calls;
    },
    hosts,
  };
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The sandbox refuses them too, but the gateway must not rely on that. */
const forbidden = ['CONNECT', 'TRACE', 'TRACK'];

function checkUrl({ url: text, method }: FetchRequest): URL {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '')
    throw new ServiceError('bad_request', 'fetch takes only http and https URLs without a user name');
  if (!token.test(method) || forbidden.includes(method.toUpperCase()))
    throw new ServiceError('bad_request', 'The method is not allowed');
  return url;
}

const defaults: readonly [string, string][] = [
  ['accept', '*/*'],
  ['user-agent', 'sluice'],
];

/** Replaces the code's `accept-encoding`, because the gateway decodes the response. */
function withDefaults(headers: FetchRequest['headers']): string[] {
  const own = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding');
  const missing = defaults.filter(([name]) => !own.some(([known]) => known.toLowerCase() === name));
  return [...own, ...missing, ['accept-encoding', 'gzip, deflate, br']].flat();
}

/** With memory for the body that is sent. @throws {ServiceError} `unavailable` without memory. */
async function reserve({ bodyBytes }: Fetching, { tenantId }: FetchingRun, bytes: number) {
  const memory = bodyBytes.open({ tenantId });
  try {
    if (bytes > 0) await memory.part('request').grow(bytes);
    return memory;
  } catch (error) {
    memory.release();
    throw error;
  }
}

const aborted = () => new ServiceError('destination_failed', 'The call was aborted');

interface Answering {
  memory: Reservation;
  signal: AbortSignal;
  abort(): void;
}

/** Memory is reserved as the body arrives, and released when the code has received it or the call ends. */
async function answerFor(head: Promise<StreamedAnswer>, { memory, signal, abort }: Answering): Promise<FetchAnswer> {
  const end = () => {
    abort();
    memory.release();
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  const { status, reason = '', headers, body } = await releasedOnFailure(head, memory);
  const tooLarge = () =>
    new ServiceError('destination_answer_unusable', `The response has more than ${mostBytes} bytes`);
  const received = memory.part('answer', copies * mostBytes);
  const collecting = collectBody(body, { memory: received, limitBytes: mostBytes, tooLarge });
  const collected = releasedOnFailure(collecting, memory);
  collected.catch(() => {}); // the code may not read it
  const codings = codingsOf(headers);

  async function take(): Promise<Uint8Array> {
    const bytes = await collected;
    try {
      if (codings.length > 0) await received.grow(copies * mostBytes);
      return new Uint8Array(await decodeBody(bytes, codings, mostBytes));
    } finally {
      memory.release();
    }
  }

  return { status, statusText: reason, headers: inPairs(headers), body: take };
}

async function releasedOnFailure<T>(result: Promise<T>, memory: Reservation): Promise<T> {
  try {
    return await result;
  } catch (error) {
    memory.release();
    throw error;
  }
}
