/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, including its waits; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For the whole call, including retries and waits; default: the client's setting. */
  timeoutMs?: number;
  /** Attempts after the first; default: the client's setting. */
  retries?: number;
  /** For operations that take one. By default each call gets a new key, which all its attempts share. */
  idempotencyKey?: string;
  /** Appears in the service's logs and in errors: at most 64 characters of `[A-Za-z0-9-]`. */
  traceId?: string;
  /** Called with the headers of a successful answer: `SVC-REVOCATION` confirms a change, `SVC-TRACE-ID` names the request. */
  onHeaders?: (headers: Headers) => void;
}

/** Options of a call that changes or deletes one resource. */
export interface ChangeOptions extends CallOptions {
  /**
   * The version that was read, `resource.modified_at ?? resource.created_at`. If somebody has changed the resource since,
   * the call rejects with a `SluiceError` of status 412 and changes nothing. Without it the last write wins.
   */
  ifMatch?: string;
}
