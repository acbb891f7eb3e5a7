import type { TransformMessage, WrittenMessage } from './thread/message/transform-message.ts';

/** One invocation of a transform. */
export interface TransformTask {
  tenantId: string;
  proxyId: string;
  kind: 'request' | 'response';
  /** A CommonJS module whose export is the transform. */
  code: string;
  /** `req.args` as JSON text; it reaches the sandbox as it is. */
  argsJson: string;
  /**
   * The message that the transform rewrites: then `argsJson` has no body, and the result is a message. Reading and writing
   * it takes time that the Tenant decides, so it counts as the transform's own.
   */
  message?: TransformMessage;
  /** `req.configuration` as JSON text; asked for once by the runs that take their turn together. */
  configuration: () => Promise<string>;
  /**
   * Runs with the same object here have the same code and the same configuration, and may take their turn together: a
   * message to a thread costs more than most runs. Without it a run takes a turn of its own.
   */
  version?: object | undefined;
  /**
   * Answers the calls of the client (`req.svc`); without it there is no client. `operation` is `tokens.create`,
   * `tokens.retrieve`, `tokens.update`, `tokens.delete`, `tokenize` or `detokenize`; payload and answer are JSON texts,
   * an empty answer is undefined in the sandbox. The payload of `retrieve` and `delete` is `{ id }`, of `update`
   * `{ id, patch }`, of the others what the code passed. What it throws becomes an Error in the sandbox, whose message
   * is the public detail.
   */
  host?: (operation: string, payloadJson: string) => Promise<string>;
  /** Runs in an instance of its own that is thrown away afterwards; without it the next run finds it warm. */
  once?: boolean;
  /** Told once of a run that came to its end in a thread, before its result or error. */
  onEnd?: (usage: TransformUsage) => void;
}

/** What one run was given, printed and used. */
export interface TransformUsage {
  configurationJson: string;
  /** Empty where the thread had to be ended. */
  console: ConsoleLine[];
  /** CPU time of the thread; undefined where the thread had to be ended. */
  cpuMs: number | undefined;
  /** In the thread. */
  durationMs: number;
}

/** What the transform returned: `message` where the task has one, JSON text otherwise. */
export interface TransformResult {
  /** JSON text; undefined when the code returned none: the original stays. */
  bodyJson: string | undefined;
  /** As `bodyJson`. */
  headersJson: string | undefined;
  message: WrittenMessage | undefined;
  /** CPU time of the thread. */
  cpuMs: number;
  /** In the thread. */
  durationMs: number;
}

/** One text that a transform printed; it may have several lines. */
export interface ConsoleLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  text: string;
}

export interface CompileError {
  message: string;
  /** From 1, in the code as it was given. */
  line: number;
  column: number;
}
