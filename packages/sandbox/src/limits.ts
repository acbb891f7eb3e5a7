export interface TransformLimits {
  /** CPU time of the thread, in milliseconds. Waiting for the client's calls does not count. */
  cpuMs: number;
  /** From the start in a thread to the result. */
  wallMs: number;
  heapBytes: number;
  stackBytes: number;
  /**
   * UTF-8 bytes of the result as JSON, and also of all payloads of the client's calls together; each value counts at
   * least 50.
   */
  outputBytes: number;
  hostCalls: number;
  /** Calls of `fetch`; each beyond them rejects. */
  fetchCalls: number;
  /** Bytes of one body that `fetch` sends, and of one that it receives. */
  fetchBytes: number;
  /** Messages of an error of the module `svc-errors` that its caller gets; others are dropped. */
  fieldErrors: number;
  /** UTF-8 bytes of console text that are stored; the rest is dropped. */
  consoleBytes: number;
}

export const defaultTransformLimits: Readonly<TransformLimits> = Object.freeze({
  cpuMs: 2_000,
  wallMs: 10_000,
  heapBytes: 128 * 2 ** 20,
  stackBytes: 512 * 2 ** 10,
  outputBytes: 5 * 2 ** 20,
  hostCalls: 50,
  fetchCalls: 20,
  fetchBytes: 5 * 2 ** 20,
  fieldErrors: 100,
  consoleBytes: 16 * 2 ** 10,
});
