import type { MessagePort } from 'node:worker_threads';
import type { TransformLimits } from '../limits.ts';
import type { TransformMessage } from './message/transform-message.ts';

/** What every thread gets when it starts. */
export interface ThreadSettings {
  limits: TransformLimits;
  /** In lower case. It names the client object and the error module. */
  headerPrefix: string;
  /** Whether the thread has a lower priority than all others of the machine. */
  givesWay: boolean;
  /** QuickJS, compiled once for all threads. */
  quickjs: WebAssembly.Module;
}

/** A task for a thread, and the number with which the thread marks that it is at this task. */
export interface Numbered<T> {
  taskNumber: number;
  task: T;
}

/** A batch: runs of one transform, one after the other in one instance. */
export interface BatchTask {
  tenantId: string;
  proxyId: string;
  kind: 'request' | 'response';
  code: string;
  configurationJson: string;
  /** Whether the instance is thrown away afterwards. */
  once: boolean;
  /** A run that uses this much CPU time before it calls the client is `slow`; undefined when none is. */
  quickMs: number | undefined;
  runs: RunInput[];
}

/** One run. */
export interface RunInput {
  /** `req.args` as JSON text; without its body when there is a message. */
  argsJson: string;
  /** Undefined when the outcome is JSON text. */
  message: TransformMessage | undefined;
  /** Names the run in the calls of its client, and cannot be guessed. Undefined when there is no client. */
  hostKey: string | undefined;
}

/** The first message of a thread: the port for the calls of its clients, and the memory where it marks its task. */
export interface ThreadStarted {
  threadId: number;
  hostCalls: MessagePort;
  markMemory: SharedArrayBuffer;
}

export interface HostCall {
  hostKey: string;
  id: number;
  operation: string;
  payloadJson: string;
}

export interface HostAnswer {
  hostKey: string;
  id: number;
  ok: boolean;
  /** The answer, or `{ message, status, code }`. */
  json: string;
}
