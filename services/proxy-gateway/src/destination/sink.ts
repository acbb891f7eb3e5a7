/** Receives the answer of a destination. Ends with exactly one of `onEnd` and `onError`, unless the call is aborted. */
export interface DestinationSink {
  /**
   * The final status (without 1xx), and filtered headers for `writeHead` as a flat list of names and values. The reason
   * phrase is undefined where a status line cannot hold it.
   */
  onHead(status: number, headers: string[], reason: string | undefined): void;
  /** False asks for a pause until `resume()`; a few chunks may still follow. */
  onData(chunk: Buffer): boolean;
  /** The trailers, filtered like the headers. */
  onEnd(trailers: string[]): void;
  /**
   * Before the head, a ServiceError for the caller. After it the answer was interrupted, and the caller's connection
   * must be destroyed, so that a part never looks like the whole.
   */
  onError(error: Error): void;
}

export interface DestinationCall {
  resume(): void;
  /** The sink receives nothing more. */
  abort(): void;
}
