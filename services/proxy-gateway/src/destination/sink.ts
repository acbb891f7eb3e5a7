/** Receives the answer of a destination. Ends with exactly one of `onEnd` and `onError`, unless the call is aborted. */
export interface DestinationSink {
  /** Called once the call has its slot, before it begins. A failure ends the call. */
  onTurn?(): Promise<void> | undefined;
  /** The final status and filtered headers. The reason is undefined if a status line cannot hold it. */
  onHead(status: number, headers: string[], reason: string | undefined): void;
  /** False asks for a pause until `resume()`; a few chunks may still follow. */
  onData(chunk: Buffer): boolean;
  onEnd(trailers: string[]): void;
  /** After the head, the caller's connection must be destroyed, so that a partial body never looks complete. */
  onError(error: Error): void;
}

export interface DestinationCall {
  resume(): void;
  /** After it the sink receives nothing more. */
  abort(): void;
}
