/** Receives the answer of a destination as it comes. Ends with exactly one of `onEnd` and `onError`, unless the call is aborted. */
export interface DestinationSink {
  /**
   * The final status (1xx are left out) and the headers as a flat list of names and values, for `writeHead`: less
   * the hop-by-hop ones (RFC 9110 section 7.6.1) and those with the service's own prefix. The reason phrase is
   * undefined where a status line cannot hold it.
   */
  onHead(status: number, headers: string[], reason: string | undefined): void;
  /** False asks for a pause, which `resume()` ends; a few chunks that were on their way may still follow. */
  onData(chunk: Buffer): boolean;
  /** The trailers are a flat list too, filtered as the headers are. */
  onEnd(trailers: string[]): void;
  /**
   * Before the head a ServiceError for the caller. After it the answer was cut off: the caller's connection must be
   * destroyed, so that a part never looks like the whole.
   */
  onError(error: Error): void;
}

/** A call that is under way. */
export interface DestinationCall {
  resume(): void;
  /** Gives the call up, for example because the client went away. The sink hears nothing more. */
  abort(): void;
}
