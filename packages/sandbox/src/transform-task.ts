import type { FetchHost } from './fetches.ts';
import type { TransformMessage, WrittenMessage } from './thread/message/transform-message.ts';

/** Transforms rewrite the messages of a Proxy. A reactor is called by itself, has `fetch`, and its timers take their time. */
export type CodeKind = 'request' | 'response' | 'reactor';

export interface TransformTask {
  tenantId: string;
  /** The Proxy or the reactor whose code it is. */
  ownerId: string;
  kind: CodeKind;
  /** A CommonJS module that exports the function. */
  code: string;
  /** `req.args` as JSON text, which reaches the sandbox unchanged. */
  argsJson: string;
  /** The message that the transform rewrites. With it `argsJson` has no body, and the result is a message. */
  message?: TransformMessage;
  /** `req.configuration` as JSON text, read once for all runs of a batch. */
  configuration: () => Promise<string>;
  /**
   * Called each time before a thread gets the message and the configuration, because runs wait for threads. Where it throws,
   * the run ends with that. Undefined where the run may begin at once.
   */
  look?: () => Promise<void> | undefined;
  /** Runs with the same object here have the same code and configuration, and may share a batch. */
  version?: object | undefined;
  /**
   * Answers calls of the client (`req.svc`), which is absent without it. Operations are `tokens.create`,
   * `tokens.retrieve`, `tokens.update`, `tokens.delete`, `tokenize` and `detokenize`; an empty answer is undefined. The
   * payload of `retrieve` and `delete` is `{ id }`, of `update` `{ id, patch }`, of the others what the code passed. What
   * this function throws becomes an Error in the sandbox, with the public detail as message.
   */
  host?: (operation: string, payloadJson: string) => Promise<string>;
  /** Answers the `fetch` of a reactor. Without it each call rejects. */
  fetch?: FetchHost;
  /**
   * When it aborts, the run ends with its reason: it does not begin, or its calls of `fetch` are aborted, its other calls are
   * answered no more, and it leaves its thread as soon as it waits.
   */
  signal?: AbortSignal;
  /** Instead of the limit of the pool. The run then shares no batch. */
  wallMs?: number;
  /** Uses a fresh instance and throws it away; otherwise the instance stays warm for the next run. */
  once?: boolean;
  /** Only parses the code. The result has a body where it is not well-formed: a {@link CompileError}. */
  parseOnly?: boolean;
  /** Called once when the run has ended in a thread, before its result or error. */
  onEnd?: (usage: TransformUsage) => void;
}

export interface TransformUsage {
  configurationJson: string;
  console: ConsoleLine[];
  /** Like `console`, missing when the thread had to be ended. */
  cpuMs: number | undefined;
  /** Time in the thread. */
  durationMs: number;
}

/** A `message` when the task has one, JSON texts otherwise. */
export interface TransformResult {
  /** Undefined when the code returned none, so that the original stays. */
  bodyJson: string | undefined;
  headersJson: string | undefined;
  /** Of a reactor, whose `bodyJson` has the other members of its result: what is to become tokens. */
  tokenizeJson: string | undefined;
  message: WrittenMessage | undefined;
  cpuMs: number;
  durationMs: number;
}

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
