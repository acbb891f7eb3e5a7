import type { ChangeWriter, Settlement } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import type { KeyPurpose } from '../keys/data-key.queries.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { KeyWrapper } from '../keys/key-wrapper.ts';

/** What a rotation works with. */
export interface Rotation {
  db: Database;
  /** For counts over whole tables: without a limit on how long a statement takes. */
  countingDb: Database;
  keyWrapper: KeyWrapper;
  dataKeys: DataKeys;
  changes: ChangeWriter;
  /** When it is aborted the batch under way is finished, and the reason is thrown. The same rotation resumes. */
  signal: AbortSignal;
  /** Called as the rotation goes on; it must return at once. */
  report: (event: RotationEvent) => void;
}

export type RotationEvent =
  | VersionsMade
  | { type: 'progress'; what: string; done: number; total: number }
  /** Rows that a request prepared before the rotation may still be written: it waits for them. */
  | { type: 'waiting'; what: string; ms: number };

/** The versions under which everything is going to be, and how every process came to know of them. */
export interface VersionsMade {
  type: 'versions';
  /** Whether they were there: a rotation is taken up again. */
  resumed: boolean;
  versions: { purpose: KeyPurpose; version: number; createdAt: string }[];
  settlement: Settlement;
}
