import type { ChangeWriter, Settlement } from '@sluice/cache-coherence';
import type { Database } from '@sluice/database';
import type { KeyPurpose } from '../keys/data-key.queries.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { KeyWrapper } from '../keys/key-wrapper.ts';

export interface Rotation {
  db: Database;
  /** Counts over whole tables use it, because its statements have no time limit. */
  countingDb: Database;
  keyWrapper: KeyWrapper;
  dataKeys: DataKeys;
  changes: ChangeWriter;
  /** Once aborted, the batch in progress is finished, and the reason is thrown. */
  signal: AbortSignal;
  report: (event: RotationEvent) => void;
}

export type RotationEvent =
  | VersionsMade
  | { type: 'progress'; what: string; done: number; total: number }
  | { type: 'waiting'; what: string; ms: number };

export interface VersionsMade {
  type: 'versions';
  /** The versions existed, because the rotation is resumed. */
  resumed: boolean;
  versions: { purpose: KeyPurpose; version: number; createdAt: string }[];
  settlement: Settlement;
}
