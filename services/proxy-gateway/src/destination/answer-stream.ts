import { inBatches, leastBytesAlone, SmallChunks } from '@sluice/service-runtime';
import { findHeader } from '../http/header-list.ts';
import type { BodyReader, BodyStream, StreamedAnswer } from '../http/message.ts';
import type { DestinationCall, DestinationSink } from './sink.ts';

/** The most that waits in memory until the body is read. */
const mostUnread = 64 * 1024;

/** What a call asks and tells before there is an answer. */
export interface CallEvents extends Pick<DestinationSink, 'onTurn' | 'onSent'> {
  /** Told at once, even if the caller leaves before the answer can be given. */
  onStatus?(status: number): void;
}

/** Makes one answer of the events of a call: a head, and a body that waits until somebody reads it. */
export class AnswerStream implements DestinationSink, BodyStream {
  readonly #events: CallEvents;
  readonly #arrival = Promise.withResolvers<StreamedAnswer>();
  #call: DestinationCall | undefined;
  #answer: StreamedAnswer | undefined;
  #contentLength: number | undefined;
  #reader: BodyReader | undefined;
  /** The body, if it has a length and came in one piece before it was read. */
  #whole: Buffer | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #small: SmallChunks | undefined;
  #hasSmall = false;
  #isFlowing = true;
  #isOver = false;
  #error: unknown;
  #trailers: string[] = [];

  constructor(events: CallEvents) {
    this.#events = events;
  }

  /** Resolves once the head has arrived. */
  follow(call: DestinationCall): Promise<StreamedAnswer> {
    this.#call = call;
    return this.#arrival.promise;
  }

  onTurn(): Promise<void> | undefined {
    return this.#events.onTurn?.();
  }

  onSent(): void {
    this.#events.onSent?.();
  }

  onHead(status: number, headers: string[], reason: string | undefined): void {
    this.#events.onStatus?.(status);
    this.#answer = { status, reason, headers, body: this };
    const length = findHeader(headers, 'content-length');
    this.#contentLength = length === undefined ? undefined : Number(length);
    arriveInBatches(this);
  }

  onData(chunk: Buffer): boolean {
    if (chunk.length === this.#contentLength && !this.#reader) {
      this.#whole = chunk; // the end follows at once
      return true;
    }
    if (chunk.length >= leastBytesAlone || !this.#hasSmall) {
      this.#hasSmall ||= chunk.length < leastBytesAlone;
      this.#small?.flush();
      return this.#take(chunk);
    }
    this.#small ??= new SmallChunks((gathered) => this.#take(gathered));
    this.#small.add(chunk);
    return this.#isFlowing;
  }

  onEnd(trailers: string[]): void {
    this.#small?.flush();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#trailers = trailers;
    this.#reader?.onEnd(trailers);
  }

  onError(error: Error): void {
    this.#small?.flush();
    this.#fail(error);
  }

  arrive(): void {
    if (this.#answer) this.#arrival.resolve(this.#answer);
  }

  takeWhole(): Buffer | undefined {
    if (this.#error !== undefined || this.#reader) return undefined;
    if (this.#whole || !this.#isOver || this.#trailers.length > 0) return this.#whole;
    return Buffer.concat(this.#unread);
  }

  read(reader: BodyReader): void {
    if (this.#error !== undefined) {
      reader.onError(this.#error);
      return;
    }
    this.#reader = reader;
    this.#isFlowing = true;
    const unread = this.#whole ? [this.#whole] : this.#unread;
    this.#whole = undefined;
    this.#unread = [];
    for (const chunk of unread) {
      this.#isFlowing = reader.onData(chunk);
      if (!this.#reader) return; // it has aborted the call
    }
    if (this.#isOver) reader.onEnd(this.#trailers);
    else if (this.#isFlowing) this.#call?.resume();
  }

  resume(): void {
    this.#isFlowing = true;
    this.#call?.resume();
  }

  abort(reason: unknown): void {
    this.#call?.abort();
    this.#fail(reason);
  }

  #take(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#reader) {
      this.#isFlowing = this.#reader.onData(chunk);
    } else {
      this.#unread.push(chunk);
      this.#unreadBytes += chunk.length;
      this.#isFlowing = this.#unreadBytes < mostUnread;
      this.arrive();
    }
    return this.#isFlowing;
  }

  /** A failure after the head is told to the reader, so that it can break off what it has begun. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) reader.onError(error);
    else if (this.#answer) this.arrive();
    else this.#arrival.reject(error);
  }
}

/** At the end of the turn, so that a small body has arrived with its head. */
const arriveInBatches = inBatches((answer: AnswerStream) => answer.arrive());
