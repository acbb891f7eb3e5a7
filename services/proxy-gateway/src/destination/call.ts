import type { Destinations } from './destinations.ts';
import { answerCutOff, failedBeforeHead, failure, isConnectionLoss, notPassedOn } from './failures.ts';
import {
  type HeaderFilter,
  hasForeignCoding,
  hasTooManyLines,
  passableReason,
  withoutLengthOfNothing,
} from './headers.ts';
import type { Link } from './link.ts';
import type { DestinationCall, DestinationSink } from './sink.ts';
import type { WaitingCall } from './slots.ts';
import type { DestinationRequest } from './target.ts';

const noTrailers: string[] = [];
/** RFC 9110 section 9.2.2. */
export const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export abstract class Call implements DestinationCall, WaitingCall {
  readonly proxyId: string;
  readonly callerId: string;
  place = -1;
  protected readonly link: Link;
  protected readonly sink: DestinationSink;
  protected readonly filter: HeaderFilter;
  protected readonly headTimer: NodeJS.Timeout;
  protected isAnswered = false;
  isOver = false;
  readonly #callerWaits: boolean;
  #mayRepeat: boolean;
  #hasSlot = false;

  constructor(
    {
      link,
      request,
    }: {
      link: Link;
      request: Pick<DestinationRequest, 'proxyId' | 'callerId' | 'headTimeoutMs' | 'noCallerWaits' | 'isSentOnce'>;
    },
    sink: DestinationSink,
    { headers, headTimeoutMs }: Destinations,
  ) {
    this.link = link;
    this.proxyId = request.proxyId ?? '';
    this.callerId = request.callerId ?? '';
    this.#callerWaits = !request.noCallerWaits;
    this.#mayRepeat = !request.isSentOnce;
    this.sink = sink;
    this.filter = headers;
    this.headTimer = setTimeout(onHeadTimeout, request.headTimeoutMs ?? headTimeoutMs, this);
    link.active++;
  }

  begin(): this {
    try {
      if (this.link.slots.take(this)) this.onSlot();
    } catch (error) {
      this.fail(error);
    }
    return this;
  }

  onSlot(): void {
    this.#hasSlot = true;
    try {
      const looking = this.isOver ? undefined : this.sink.onTurn?.();
      if (looking) {
        looking.then(
          () => this.#startInSlot(),
          (error: unknown) => this.#leaveSlot(error),
        );
      } else this.#startInSlot();
    } catch (error) {
      this.#leaveSlot(error);
    }
  }

  #startInSlot(): void {
    if (this.isOver) {
      this.giveSlotBack();
      return;
    }
    try {
      if (this.link.isClosed) throw failure('ECLOSING', 'The destinations are closing');
      this.start();
    } catch (error) {
      this.#leaveSlot(error);
    }
  }

  #leaveSlot(error: unknown): void {
    this.giveSlotBack();
    this.fail(error);
  }

  onRefused(error: Error): void {
    this.fail(error);
  }

  onClosing(): void {
    if (this.#callerWaits && !this.isAnswered) this.fail(failure('ECLOSING', 'The gateway stops'));
  }

  /** Repeated calls have no effect. */
  protected giveSlotBack(): void {
    if (this.#hasSlot) this.link.slots.giveBack(this);
    this.#hasSlot = false;
  }

  protected abstract start(): void;
  abstract resume(): void;
  protected abstract disconnect(reason: Error): void;

  abort(): void {
    if (this.#settle()) this.disconnect(new Error('The call was aborted'));
  }

  protected answer(status: number, rawHeaders: readonly (string | Buffer)[], reason: string | undefined): void {
    if (this.isOver) return;
    if (hasForeignCoding(rawHeaders)) {
      this.fail(failure('ECODING', 'The response has a transfer coding other than chunked'));
      return;
    }
    if (hasTooManyLines(rawHeaders, this.link.maxHeadBytes)) {
      this.fail(failure('EHEADTOOLARGE', 'The response has too many headers'));
      return;
    }
    clearTimeout(this.headTimer);
    this.isAnswered = true;
    try {
      const headers = withoutLengthOfNothing(status, this.filter.response(rawHeaders));
      this.sink.onHead(status, headers, passableReason(reason));
    } catch (error) {
      this.#fail(notPassedOn(error));
    }
  }

  protected data(chunk: Buffer): boolean {
    if (this.isOver) return true;
    try {
      return this.sink.onData(chunk);
    } catch (error) {
      this.#fail(notPassedOn(error));
      return true;
    }
  }

  protected end(rawTrailers: readonly (string | Buffer)[]): void {
    if (this.#settle()) this.sink.onEnd(rawTrailers.length === 0 ? noTrailers : this.filter.response(rawTrailers));
  }

  protected fail(error: unknown): void {
    if (!this.isOver) this.#fail(this.isAnswered ? answerCutOff(error) : failedBeforeHead(error));
  }

  /** Asynchronous, so that the sink receives the call before its failure. */
  #fail(told: Error): void {
    if (!this.#settle()) return;
    this.disconnect(told);
    queueMicrotask(() => this.sink.onError(told));
  }

  /**
   * A request is repeated once, and only if a kept connection closed before any byte of a response (RFC 9110 section
   * 9.2.2, RFC 9112 section 9.3.1), unless it may be sent only once.
   */
  protected takeRetry(error: Error, method: string, isUntouched: boolean): boolean {
    const isStale = isUntouched && isConnectionLoss(error) && !this.isOver && !this.isAnswered;
    if (!isStale || !this.#mayRepeat || !idempotentMethods.has(method)) return false;
    this.#mayRepeat = false;
    return true;
  }

  onHeadTimeout(): void {
    this.fail(failure('EHEADTIMEOUT', 'No response head in time'));
  }

  #settle(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    clearTimeout(this.headTimer);
    this.link.active--;
    if (!this.#hasSlot) this.link.slots.leave(this);
    return true;
  }
}

function onHeadTimeout(call: Call): void {
  call.onHeadTimeout();
}

export function failedCall(error: unknown, sink: DestinationSink): DestinationCall {
  let isAborted = false;
  queueMicrotask(() => {
    if (!isAborted) sink.onError(failedBeforeHead(error));
  });
  return {
    resume() {},
    abort() {
      isAborted = true;
    },
  };
}
