import type { MessagePort } from 'node:worker_threads';
import type { TransformLimits } from '../limits.ts';

/** What every thread gets when it starts. */
export interface ThreadSettings {
  limits: TransformLimits;
  /** In lower case; names the client object and the error module. */
  headerPrefix: string;
  /** QuickJS, compiled once for all threads. */
  quickjs: WebAssembly.Module;
}

/** One invocation, as it is posted to a thread. */
export interface RunTask {
  tenantId: string;
  proxyId: string;
  kind: 'request' | 'response';
  code: string;
  argsJson: string;
  configurationJson: string;
  /** Its instance is not kept. */
  once: boolean;
  /** Names the invocation in the client's calls, hard to guess. Undefined: no client. */
  hostKey: string | undefined;
}

/** A thread's first message: the port for the client's calls of all its invocations. */
export interface ThreadStarted {
  hostCalls: MessagePort;
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
