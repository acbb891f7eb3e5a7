import type { TransformLimits } from '../limits.ts';
import type { ConsoleLine } from '../transform-task.ts';
import type { UnreadableReason, WrittenMessage } from './message/transform-message.ts';

/** A limit, the state in which nothing can go on any more, or a broken QuickJS. */
export type Stop = Exclude<keyof TransformLimits, 'consoleBytes'> | 'stuck' | 'crashed';

/** Lists of text by the path of a field. */
export type FieldErrors = Record<string, string[]>;

/** What the guest tells of an error that its code threw; text, whatever the code did to its own prototypes. */
export type GuestFailure =
  | { kind: 'error'; name?: string; message?: string; stack?: string; code?: string; errors?: FieldErrors | undefined }
  | { kind: 'response'; status: number; headersJson: string; bodyJson?: string; written?: WrittenMessage }
  | { kind: 'unreadable'; reason: UnreadableReason };

/**
 * How an invocation ended: the result, as JSON text or as the message that is sent, what the code threw, or what stopped
 * it. Nothing came of a slow one: it is to be
 * run again in a thread that gives way.
 */
export type Outcome =
  | { kind: 'result'; bodyJson: string | undefined; headersJson: string | undefined }
  | { kind: 'message'; written: WrittenMessage }
  | { kind: 'unusable'; detail: string; reason: string }
  | { kind: 'thrown'; failure: GuestFailure }
  | { kind: 'stopped'; by: Stop }
  | { kind: 'slow' };

/** The answer of the thread to one run. */
export interface RunAnswer {
  outcome: Outcome;
  cpuMs: number;
  durationMs: number;
  /** Calls of the client that it made. */
  hostCalls: number;
  /** Its code was stopped in the middle: where there is a result, what went on after it. */
  isCut: boolean;
  console: ConsoleLine[];
}
