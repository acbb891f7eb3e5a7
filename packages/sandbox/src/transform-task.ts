import type { TransformMessage, WrittenMessage } from './thread/message/transform-message.ts';

/** One invocation of a transform. */
export interface TransformTask {
  tenantId: string;
  proxyId: string;
  kind: 'request' | 'response';
  /** A CommonJS module that exports the transform. */
  code: string;
  /** `req.args` as JSON text; it reaches the sandbox as it is. */
  argsJson: string;
  /**
   * The message that the transform rewrites. With it `argsJson` has no body, and the result is a message. The thread reads
   * and writes it within the transform's limits, because the Tenant decides how much work that is.
   */
  message?: TransformMessage;
  /** Reads `req.configuration` as JSON text, once for all runs of a batch. */
  configuration: () => Promise<string>;
  /** Runs with the same object here have the same code and configuration, and may share a batch. */
  version?: object | undefined;
  /**
   * Answers the calls of the client (`req.svc`); without it there is no client. `operation` is `tokens.create`,
   * `tokens.retrieve`, `tokens.update`, `tokens.delete`, `tokenize` or `detokenize`. Payload and answer are JSON texts; an
   * empty answer becomes undefined. The payload of `retrieve` and `delete` is `{ id }`, of `update` `{ id, patch }`, of the
   * others what the code passed. What this function throws becomes an Error in the sandbox, with the public detail as its
   * message.
   */
  host?: (operation: string, payloadJson: string) => Promise<string>;
  /** The run has an instance of its own, which is thrown away; otherwise the instance stays warm for the next run. */
  once?: boolean;
  /** Called once when the run has ended in a thread, before its result or error. */
  onEnd?: (usage: TransformUsage) => void;
}

/** What a run got, printed and used. */
export interface TransformUsage {
  configurationJson: string;
  /** Empty when the thread had to be ended. */
  console: ConsoleLine[];
  /** CPU time of the thread, in milliseconds; undefined when the thread had to be ended. */
  cpuMs: number | undefined;
  /** Time in the thread, in milliseconds. */
  durationMs: number;
}

/** What the transform returned: a `message` when the task has one, JSON texts otherwise. */
export interface TransformResult {
  /** JSON text; undefined when the code returned none, so that the original stays. */
  bodyJson: string | undefined;
  /** Like `bodyJson`. */
  headersJson: string | undefined;
  message: WrittenMessage | undefined;
  /** CPU time of the thread, in milliseconds. */
  cpuMs: number;
  /** Time in the thread, in milliseconds. */
  durationMs: number;
}

/** A text that a transform printed; it may have several lines. */
export interface ConsoleLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  text: string;
}

export interface CompileError {
  message: string;
  /** Counted from 1, in the code as it was given. */
  line: number;
  column: number;
}
