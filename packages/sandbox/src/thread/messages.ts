import type { MessagePort } from 'node:worker_threads';
import type { TransformLimits } from '../limits.ts';
import type { TransformMessage } from './message/transform-message.ts';

/** What every thread gets when it starts. */
export interface ThreadSettings {
  limits: TransformLimits;
  /** In lower case; names the client object and the error module. */
  headerPrefix: string;
  /** The thread gives way to all others of the machine. */
  givesWay: boolean;
  /** QuickJS, compiled once for all threads. */
  quickjs: WebAssembly.Module;
}

/** What is posted to a thread: the task, and the number by which the thread marks that it is at it. */
export interface Numbered<T> {
  taskNumber: number;
  task: T;
}

/** Runs of one transform, one after the other in one instance. */
export interface BatchTask {
  tenantId: string;
  proxyId: string;
  kind: 'request' | 'response';
  code: string;
  configurationJson: string;
  /** The instance is not kept. */
  once: boolean;
  /** A run that uses so much CPU time and has not called the client is `slow`; without it none is. */
  quickMs: number | undefined;
  runs: RunInput[];
}

/** One invocation. */
export interface RunInput {
  /** `req.args` as JSON text, less its body where there is a message. */
  argsJson: string;
  /** Without it the outcome is JSON text. */
  message: TransformMessage | undefined;
  /** Names the invocation in the client's calls, hard to guess. Undefined: no client. */
  hostKey: string | undefined;
}

/** A thread's first message: the port for the client's calls of all its invocations, and where it marks its task. */
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
