import type { TransformLimits } from '../limits.ts';
import type { ConsoleLine } from '../transform-task.ts';
import type { UnreadableReason, WrittenMessage } from './message/transform-message.ts';

/**
 * A limit, a state in which nothing can continue (`stuck`), a broken QuickJS (`crashed`), or a wait for memory that other runs
 * used (`memoryWait`).
 */
export type Stop =
  | Exclude<keyof TransformLimits, 'consoleBytes' | 'fetchBytes' | 'fetchCalls' | 'fieldErrors'>
  | 'stuck'
  | 'memoryWait'
  | 'crashed';

/**
 * A run reaches these limits only after it has occupied its thread for long, or has killed it; other limits are found
 * at once.
 */
export const isKill = (limit: Stop | undefined): boolean => limit !== undefined && kills.includes(limit);

const kills: readonly Stop[] = ['cpuMs', 'wallMs', 'heapBytes', 'crashed'];

export type FieldErrors = Record<string, string[]>;

/** The guest's report of an error: only text, whatever the code did to its own prototypes. */
export type GuestFailure =
  | {
      kind: 'error';
      name?: string;
      message?: string;
      stack?: string;
      code?: string;
      errors?: FieldErrors | undefined;
      isCut?: boolean;
    }
  | { kind: 'response'; status: number; headersJson: string; bodyJson?: string; written?: WrittenMessage }
  | { kind: 'unreadable'; reason: UnreadableReason };

/** A result is JSON text, or the message that is sent. A `slow` run begins again in a slow thread; nobody wants an `aborted` one. */
export type Outcome =
  | { kind: 'result'; bodyJson: string | undefined; headersJson: string | undefined; tokenizeJson?: string | undefined }
  | { kind: 'message'; written: WrittenMessage }
  | { kind: 'unusable'; detail: string; reason: string; limit: string | undefined }
  | { kind: 'thrown'; failure: GuestFailure }
  | { kind: 'stopped'; by: Stop }
  | { kind: 'slow' }
  | { kind: 'aborted' };

export interface RunAnswer {
  outcome: Outcome;
  cpuMs: number;
  durationMs: number;
  hostCalls: number;
  /** The code was interrupted, possibly while it continued after its result. */
  isCut: boolean;
  console: ConsoleLine[];
}
