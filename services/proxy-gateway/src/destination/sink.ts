import type { BodyReader } from '../http/message.ts';

/** Receives the answer of a destination. Ends with exactly one of `onEnd` and `onError`, unless the call is aborted. */
export interface DestinationSink extends BodyReader {
  /** Called once the call has its slot, before it begins. A failure ends the call. */
  onTurn?(): Promise<void> | undefined;
  /** The request begins to be sent: from now on the destination may act on it. */
  onSent?(): void;
  /** The final status and filtered headers. The reason is undefined if a status line cannot hold it. */
  onHead(status: number, headers: string[], reason: string | undefined): void;
  /** After the head, the caller's connection must be destroyed, so that a partial body never looks complete. */
  onError(error: Error): void;
}

export interface DestinationCall {
  resume(): void;
  /** After it the sink receives nothing more. */
  abort(): void;
}
