import type { MessagePort } from 'node:worker_threads';
import type { LargeHeapUse } from '../large-heaps.ts';
import type { TransformLimits } from '../limits.ts';
import type { CodeKind } from '../transform-task.ts';
import type { TransformMessage } from './message/transform-message.ts';
import type { RunAnswer } from './outcome.ts';

export interface ThreadSettings {
  limits: TransformLimits;
  /** In lower case. It names the client object and the error module. */
  headerPrefix: string;
  /** The thread has a lower priority than all others of the machine. */
  givesWay: boolean;
  largeHeap: LargeHeapUse;
  quickjs: WebAssembly.Module;
}

/** The batch has ended. Runs without an answer have not begun. */
export interface ThreadAnswer {
  answers: RunAnswer[];
  error?: unknown;
  /** CPU time of the thread since it began. */
  cpuMs: number;
  /** Memory of the instances that stay warm. */
  warmBytes: number;
}

/** The oldest instances are discarded until the others take no more than this. */
export interface GiveBackTask {
  keepBytes: number;
}

export interface BatchTask {
  tenantId: string;
  ownerId: string;
  kind: CodeKind;
  code: string;
  configurationJson: string;
  /** The instance is discarded afterwards. */
  once: boolean;
  /** Only finds out whether the code is well-formed, and runs none of it. */
  parseOnly: boolean;
  /** A run that uses this much CPU time before it calls the client is `slow`; undefined in a slow thread. */
  quickMs: number | undefined;
  wallMs: number;
  runs: RunInput[];
}

export interface RunInput {
  /** `req.args` as JSON text; without its body if there is a message. */
  argsJson: string;
  message: TransformMessage | undefined;
  hasClient: boolean;
  mayFetch: boolean;
  /** Identifies the run in its calls, and cannot be guessed. Undefined if it can make no calls. */
  hostKey: string | undefined;
}

export interface ThreadStarted {
  hostCalls: MessagePort;
  cpuMs: number;
}

export interface HostCall {
  hostKey: string;
  id: number;
  operation: string;
  payloadJson: string;
  /** What `fetch` sends. */
  body?: Uint8Array;
}

export interface HostAnswer {
  hostKey: string;
  id: number;
  ok: boolean;
  /** The result, or `{ message, status, code }`. */
  json: string;
  /** Instead of `json`: the body that `fetch` received. */
  bytes?: Uint8Array;
}

/** Ends a run that waits for answers. */
export interface RunAborted {
  hostKey: string;
  isAborted: true;
}

/** A run as its guest sees it. */
export type GuestRun = Omit<RunInput, 'message' | 'hostKey' | 'mayFetch'> &
  Pick<BatchTask, 'code' | 'configurationJson'> & { bodyJson?: string };

export type GuestSettings = ThreadSettings & { sources: ReadonlyMap<string, string> };
