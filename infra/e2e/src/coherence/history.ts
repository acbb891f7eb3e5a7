// What the clients did and saw. All moments are milliseconds of one monotonic clock: that of the test's own process.

import type { Confirmation } from '@sluice/cache-coherence';

/** A key is known by the number of the regeneration or addition that gave it; 0 came with the Application. */
export type KeyNumber = number;

/** A regeneration, or the addition or deletion of a single key. */
export interface KeyChange {
  application: number;
  /** Counts from 1, for each Application. Those of one Application never overlap: one client makes them. */
  number: KeyNumber;
  startedAt: number;
  /** After the whole answer was received, or the client gave up. */
  endedAt: number;
  /** Everything but a success is indeterminate: the key may have been replaced, or may yet be. */
  outcome: 'confirmed' | 'indeterminate';
  detail: string;
  confirmation?: Confirmation | undefined;
}

export type Regeneration = KeyChange;

/** A key that was added beside the first one of its Application, which stays. */
export interface SingleKey {
  application: number;
  number: KeyNumber;
  id: string;
  givenAt: number;
  /** The key expires between this and `expiredAt`, because two clocks cannot be read at once. */
  expiresAt: number;
  expiredAt: number;
  /** Absent while nobody has tried to delete it. */
  deletionSentAt?: number;
  /** When the success had arrived; absent without one. */
  deletedAt?: number;
}

export interface Invocation {
  application: number;
  key: KeyNumber;
  target: string;
  startedAt: number;
  endedAt: number;
  /** `accepted`: the key was taken for valid. `refused`: it was not. `undecided`: the answer does not say. */
  outcome: 'accepted' | 'refused' | 'undecided';
  detail: string;
  retryAfter?: string | undefined;
}

export interface Fault {
  name: string;
  target: string;
  startedAt: number;
  endedAt: number;
}

export const emptyHistory = () => ({
  regenerations: [] as Regeneration[],
  singleKeys: [] as SingleKey[],
  singleKeyChanges: [] as KeyChange[],
  invocations: [] as Invocation[],
  faults: [] as Fault[],
});

export type History = ReturnType<typeof emptyHistory>;

/** The value of `SVC-REVOCATION`; undefined where there is none that can be read. */
export function readConfirmation(header: string | string[] | undefined): Confirmation | undefined {
  const match = /^change=([0-9a-f-]{36}), holders=(\d+), waited_ms=(\d+)$/.exec(String(header));
  return match?.[1] ? { changeId: match[1], holders: Number(match[2]), waitedMs: Number(match[3]) } : undefined;
}
