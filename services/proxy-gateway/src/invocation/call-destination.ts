import { ServiceError } from '@sluice/problems';
import { type Looking, look } from '../acting/look.ts';
import type { Context } from '../context.ts';
import { AnswerStream, addressOf, type CallEvents, forward, streamThrough } from '../destination/index.ts';
import { withoutParts } from '../guard/guard-answer.ts';
import { replaceHeaders, withoutHeaders } from '../http/header-list.ts';
import type { RequestMessage, StreamedAnswer } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';

type Calling = Looking & Pick<Context, 'destinations' | 'tellsDestinations'>;

/**
 * Bodies in memory use undici; streams, and calls with their own `Connection` or `Keep-Alive`, use http-proxy. Resolves
 * as soon as the head has arrived.
 */
export function callDestination(
  invocation: Invocation,
  message: RequestMessage,
  context: Calling,
): Promise<StreamedAnswer> {
  const { acting, head, response, trace } = invocation;
  // The caller may have left during an earlier step, and `close` does not fire a second time
  if (response.destroyed) throw new CallerGone();
  const { owner: proxy, caller } = acting;
  const { destinations } = context;
  // Headers that frame a connection are never passed on, not even from a transform
  const filtered = destinations.headers.request(message.headers);
  // A part of an answer would pass what the response transform was written to hide
  const passed = proxy.responseTransform === undefined ? filtered : withoutHeaders(filtered, 'range', 'if-range');
  // After the filter, so that no `Connection` of the caller removes them
  const set = message.set ? replaceHeaders(passed, message.set) : passed;
  const headers = acting.guard ? withoutParts(set) : set;
  const { keepAlive, connection } = head;
  const { target, body } = message;
  const request = {
    ...addressOf(proxy.destination, target),
    tenantId: proxy.tenantId,
    proxyId: proxy.id,
    callerId: caller?.id,
    method: target.method,
    headers: trace && context.tellsDestinations ? trace.tell(headers) : headers,
    cdnLoop: head.cdnLoop,
    isSentOnce: acting.counted.size > 0,
    headTimeoutMs: proxy.headTimeoutS === undefined ? undefined : proxy.headTimeoutS * 1000,
  };
  const answer = new AnswerStream(new Sending(invocation, headers, context));
  const held = Buffer.isBuffer(body) && keepAlive === undefined && connection === undefined ? body : undefined;
  const call = held
    ? forward({ ...request, body: held.length > 0 ? held : undefined }, destinations, answer)
    : streamThrough({ ...request, body, incoming: invocation.request, keepAlive, connection }, destinations, answer);
  // A closure stored in the invocation would survive V8's young collections; a listener on the response does not
  response.on('close', () => {
    if (!response.writableFinished) answer.abort(new CallerGone());
  });
  return answer.follow(call);
}

class Sending implements CallEvents {
  readonly #invocation: Invocation;
  readonly #headers: readonly string[];
  readonly #context: Looking;

  constructor(invocation: Invocation, headers: readonly string[], context: Looking) {
    this.#invocation = invocation;
    this.#headers = headers;
    this.#context = context;
  }

  onTurn(): Promise<void> | undefined {
    return look(this.#invocation.acting, this.#context);
  }

  onSent(): void {
    this.#invocation.sentHeaders = this.#headers;
  }

  onStatus(status: number): void {
    this.#invocation.destinationStatus = status;
    this.#invocation.acting.direction = 'answer';
  }
}

/** @throws {ServiceError} 502 for a part of an answer, if a transform needs the whole. */
export function refusePart({ proxy }: Invocation, { status, body }: StreamedAnswer): void {
  if (status !== 206 || proxy.responseTransform === undefined) return;
  const unwanted = new ServiceError('destination_answer_unusable', unwantedPart);
  body.abort(unwanted);
  throw unwanted;
}

const unwantedPart =
  'The destination sent a partial response (206) that was not requested; a response transform needs the whole response';

export class CallerGone extends Error {
  constructor() {
    super('the caller went away');
    this.name = 'CallerGone';
  }
}
