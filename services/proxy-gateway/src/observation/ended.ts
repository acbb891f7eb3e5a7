import type { InvocationCounts } from './invocation-counts.ts';
import type { InvocationFeed, Noted } from './invocation-feed.ts';

/**
 * Tells all who follow traffic of an invocation or a run. Called once for each, when it has ended. It waits for nothing and
 * never fails. Invocations pass themselves, so that nothing is allocated for them.
 */
export type NoteEnded = (ended: Noted, durationMs: number) => void;

export function noteEndedTo(feed: InvocationFeed | undefined, counts: Pick<InvocationCounts, 'note'>): NoteEnded {
  return (ended, durationMs) => {
    feed?.note(ended, durationMs);
    counts.note(ended, durationMs);
  };
}
