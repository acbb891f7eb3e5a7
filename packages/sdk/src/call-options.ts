/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, its waiting included; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For the whole call, tries and waiting included; default as the client was told. */
  timeoutMs?: number;
  /** Tries after the first; default as the client was told. */
  retries?: number;
  /** Where the operation takes one; otherwise made for each call, and the same for all its tries. */
  idempotencyKey?: string;
  /** Appears in the service's logs and in errors: at most 64 characters of `[A-Za-z0-9-]`. */
  traceId?: string;
}
