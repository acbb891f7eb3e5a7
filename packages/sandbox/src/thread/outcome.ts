import type { TransformLimits } from '../limits.ts';
import type { ConsoleLine } from '../transform-task.ts';
import type { UnreadableReason, WrittenMessage } from './message/transform-message.ts';

/** Why a run was stopped: a limit, a state in which nothing can go on (`stuck`), or a broken QuickJS (`crashed`). */
export type Stop = Exclude<keyof TransformLimits, 'consoleBytes' | 'fieldErrors'> | 'stuck' | 'crashed';

/** Messages by the path of a field. */
export type FieldErrors = Record<string, string[]>;

/** What the guest reports about an error of the code: only text, whatever the code did to its own prototypes. */
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

/**
 * How a run ended: with a result (as JSON text, or as the message that is sent), with an error of the code, or with what
 * stopped it. A `slow` run has no result, and begins again in a slow thread.
 */
export type Outcome =
  | { kind: 'result'; bodyJson: string | undefined; headersJson: string | undefined }
  | { kind: 'message'; written: WrittenMessage }
  | { kind: 'unusable'; detail: string; reason: string; limit: string | undefined }
  | { kind: 'thrown'; failure: GuestFailure }
  | { kind: 'stopped'; by: Stop }
  | { kind: 'slow' };

/** The answer of the thread to one run. */
export interface RunAnswer {
  outcome: Outcome;
  cpuMs: number;
  durationMs: number;
  /** How many calls of the client it made. */
  hostCalls: number;
  /** Whether its code was stopped in the middle; when there is a result, while it went on after the result. */
  isCut: boolean;
  console: ConsoleLine[];
}
