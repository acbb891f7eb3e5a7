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

/** What a thread does, one task at a time. */
export type ThreadTask = { name: 'run'; batch: BatchTask } | { name: 'compile'; code: string };

/** A task is over: with what its function returned, or with an error that it threw. */
export interface ThreadAnswer {
  value?: unknown;
  error?: unknown;
  /** CPU time of the thread since it began, in milliseconds. */
  cpuMs: number;
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

/** The first message of a thread: the port for the calls of its clients, and its CPU time so far, in milliseconds. */
export interface ThreadStarted {
  hostCalls: MessagePort;
  cpuMs: number;
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
