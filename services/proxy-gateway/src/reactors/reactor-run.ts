import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { ConsoleLine } from '@sluice/sandbox';
import type { Json } from '@sluice/vault';
import type { RunNotes } from './run-notes.ts';

export interface ReactorRun {
  reactorId: string;
  /** Any JSON. Its expressions have not been evaluated yet. */
  args: Json;
  /** Its rights decide which tokens of `args` are revealed. */
  caller: Caller;
  /**
   * Checks that the caller's rights have not changed since it was found. It is called before the code gets values, before each
   * call of `fetch`, and before `runReactor` resolves. @throws {ServiceError} if they have changed or ended.
   */
  look(tx?: Queryable): Promise<void> | undefined;
  /** When it aborts, the run ends with its reason, and calls and changes nothing any more. */
  signal: AbortSignal;
  traceId: string;
  notes: RunNotes;
  /** Milliseconds from the start in a thread. */
  wallMs: number;
  /** Whether it is asynchronous: its calls go on while the gateway stops, and a run that does not end is interrupted. */
  noCallerWaits?: boolean;
  /** Sent with each call of `fetch`. */
  cdnLoop: string;
  /**
   * Awaited once, before the first call of `fetch` or the first change through the client. If it rejects, that call and all later
   * ones reject, so nothing is sent or changed.
   */
  beforeFirstEffect?(): Promise<void>;
  /** What the code printed, without secrets. Called at most once, before this settles. */
  onConsole?(lines: readonly ConsoleLine[]): void;
}

/** What the code returned. Its tokens do not exist yet: they are created in the transaction that stores the outcome. */
export interface ReactorOutcome {
  /** JSON of an object with `raw`, `body` and `headers`, as far as the code returned them. */
  resultJson: string;
  tokenize: Json | undefined;
}
