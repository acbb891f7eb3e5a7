import { growAsItArrives, type Reservation, type ReservationOptions } from '@sluice/body-bytes';
import { ServiceError } from '@sluice/problems';
import type { FetchAnswer, FetchHost, FetchRequest } from '@sluice/sandbox';
import type { Context } from '../context.ts';
import { type DestinationCall, type DestinationSink, forward } from '../destination/index.ts';
import { contentCodings, decodeBody } from '../http/content-coding.ts';
import { findHeader } from '../http/header-list.ts';
import { copies } from '../limits/body-memory.ts';

/** Limit for the body of one response, both as received and decoded. */
const mostBytes = 5 * 2 ** 20;

export type Fetching = Pick<Context, 'destinations' | 'bodyBytes'>;

export interface FetchingRun {
  tenantId: string;
  reactorId: string;
  callerId: string;
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
    const sent = await reserve(context, run, body?.length ?? 0);
    try {
      await run.beforeEffect();
      if (signal.aborted) throw aborted();
    } catch (error) {
      sent?.release();
      throw error;
    }
    const onTurn = async () => {
      await run.look();
      calls += 1;
      hosts.add(url.host);
    };
    const sink = new FetchSink(onTurn, { received: context.bodyBytes.open(answerOf(run)), sent });
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
    };
    return sink.follow(forward(outgoing, context.destinations, sink), signal);
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
    throw new ServiceError('bad_request', 'fetch takes http and https URLs without a user');
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

function answerOf({ tenantId }: FetchingRun): ReservationOptions {
  return { tenantId, direction: 'answer', mostBytes: copies * mostBytes };
}

/** For a body that is sent. Undefined if there is none. @throws {ServiceError} `unavailable` without memory. */
async function reserve({ bodyBytes }: Fetching, { tenantId }: FetchingRun, bytes: number) {
  if (bytes === 0) return undefined;
  const memory = bodyBytes.open({ tenantId, direction: 'request', mostBytes: bytes });
  try {
    await memory.grow(bytes);
    return memory;
  } catch (error) {
    memory.release();
    throw error;
  }
}

const aborted = () => new ServiceError('destination_failed', 'The call was aborted');

interface Memory {
  received: Reservation;
  sent: Reservation | undefined;
}

/** Collects one response. Memory is reserved as it arrives, and released when the code has received it or the call ends. */
class FetchSink implements DestinationSink {
  readonly onTurn: () => Promise<void>;
  readonly #memory: Reservation;
  readonly #sent: Reservation | undefined;
  readonly #head = Promise.withResolvers<FetchAnswer>();
  readonly #body = Promise.withResolvers<Buffer>();
  #call: DestinationCall | undefined;
  #codings: readonly string[] = [];
  #chunks: Buffer[] = [];
  #size = 0;
  #isRead = true;
  #isOver = false;

  constructor(onTurn: () => Promise<void>, { received, sent }: Memory) {
    this.onTurn = onTurn;
    this.#memory = received;
    this.#sent = sent;
    this.#body.promise.catch(() => {}); // the code may not read it
  }

  follow(call: DestinationCall, signal: AbortSignal): Promise<FetchAnswer> {
    this.#call = call;
    const abort = () => this.#giveUp(aborted());
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    return this.#head.promise;
  }

  onHead(status: number, headers: string[], reason: string | undefined): void {
    this.#codings = contentCodings(findHeader(headers, 'content-encoding'));
    const lines = headers.flatMap((name, at): [string, string][] =>
      at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : [],
    );
    this.#head.resolve({ status, statusText: reason ?? '', headers: lines, body: () => this.#take() });
    this.#waitForRoom();
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.#size += chunk.length;
    if (this.#size > mostBytes) {
      this.#giveUp(new ServiceError('destination_answer_unusable', `The answer has more than ${mostBytes} bytes`));
      return true;
    }
    this.#chunks.push(chunk);
    if (this.#isRead) this.#waitForRoom();
    return this.#isRead;
  }

  onEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body.resolve(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  onError(error: Error): void {
    this.#fail(error);
  }

  async #take(): Promise<Uint8Array> {
    try {
      const body = await this.#body.promise;
      if (this.#codings.length > 0) await this.#memory.grow(copies * mostBytes);
      return new Uint8Array(await decodeBody(body, this.#codings, mostBytes));
    } finally {
      this.#release();
    }
  }

  #waitForRoom(): void {
    const room = growAsItArrives(this.#memory, this.#size, { copies, mostLength: mostBytes });
    if (!room) return;
    this.#isRead = false;
    room.then(
      () => {
        this.#isRead = true;
        this.#call?.resume();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  #giveUp(error: unknown): void {
    this.#call?.abort();
    this.#fail(error);
  }

  #release(): void {
    this.#memory.release();
    this.#sent?.release();
  }

  #fail(error: unknown): void {
    this.#release();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#chunks = [];
    this.#head.reject(error);
    this.#body.reject(error);
  }
}
