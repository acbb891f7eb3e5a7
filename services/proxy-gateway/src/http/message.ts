import type { Readable } from 'node:stream';
import type { ContentKind } from './content-type.ts';

/** Names and values alternate, as node:http and undici take them. */
export type HeaderList = string[];

export interface Message {
  headers: HeaderList;
  body: Buffer;
}

/** What the caller asks of the destination. With its URL this makes the address of the call. */
export interface RequestTarget {
  method: string;
  /** Raw path behind `/proxy`; '' if there is none. */
  path: string;
  /** Raw query with its `?`, without the proxy key; '' if there is none. */
  query: string;
}

/** The message to the destination: as received, then with values, then as the transform wrote it. */
export interface RequestMessage {
  /** With values; `InvocationHead.target` is as sent. */
  target: RequestTarget;
  /** All headers that came, as transforms see them. */
  received: HeaderList;
  /** The same with values, if expressions stand in them. */
  filled?: HeaderList;
  headers: HeaderList;
  /** Headers that the Proxy sets once code has run. They replace others of their names. */
  set: HeaderList | undefined;
  kind: ContentKind;
  body: Buffer | Readable;
  /** Whether the body differs from the received one, because it was decoded or has values. */
  isBodyNew: boolean;
}

export interface Answer extends Message {
  status: number;
  reason?: string | undefined;
}

/** A response as it comes: a head, and one stream. */
export interface StreamedAnswer extends Omit<Answer, 'body'> {
  body: BodyStream;
}

/**
 * The body of a response. It waits until it is read. A step that changes or withholds a part of it reads one stream and
 * gives another.
 */
export interface BodyStream {
  /** The body, if all of it has come. Whoever takes it does not read. */
  takeWhole(): Buffer | undefined;
  /** Call it once. Gives what has arrived at once, then each chunk as it comes. */
  read(reader: BodyReader): void;
  /** Ends a pause that the reader asked for. */
  resume(): void;
  /** Ends the call to the destination; the reader gets the reason as its error, unless the body has ended. */
  abort(reason: unknown): void;
}

/** Ends with exactly one of `onEnd` and `onError`. */
export interface BodyReader {
  /** False asks for a pause until `resume()`; a few chunks may still follow. */
  onData(chunk: Buffer): boolean;
  onEnd(trailers: string[]): void;
  /** What was passed on must then not look complete. */
  onError(error: unknown): void;
}
