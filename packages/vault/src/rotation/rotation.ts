import type { ChangeWriter, Confirmation } from '@sluice/cache-coherence';
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
  /** Once aborted, the current batch is finished, and the reason is thrown. */
  signal: AbortSignal;
  /** It must return at once. */
  report: (event: RotationEvent) => void;
}

export type RotationEvent =
  | VersionsMade
  | { type: 'progress'; what: string; done: number; total: number }
  /** Requests that began before the rotation may still write rows under an older version. */
  | { type: 'waiting'; what: string; ms: number };

export interface VersionsMade {
  type: 'versions';
  resumed: boolean;
  versions: { purpose: KeyPurpose; version: number; createdAt: string }[];
  confirmation: Confirmation;
}
