import type { Caller } from '@sluice/credentials';
import type { ConsoleLine } from '@sluice/sandbox';
import type { Noted, NotedActing } from '../observation/invocation-feed.ts';
import { StageClock } from '../observation/stage-clock.ts';

/** What a run has noted by its end, for those that {@link NoteEnded} tells. */
export class RunNotes implements Noted {
  readonly isRun = true;
  readonly clock = new StageClock();
  readonly request = { method: 'POST' };
  readonly response = { statusCode: 200 };
  readonly destinationStatus = undefined;
  readonly guardHits = undefined;
  readonly guardTokenIds = undefined;
  traceId: string;
  caller: Caller | undefined;
  /** Undefined until the reactor is found. */
  acting: NotedActing | undefined;
  errorCode: string | undefined;
  tokenIds: string[] | undefined;
  printed: ConsoleLine[] | undefined;

  constructor(traceId: string, acting?: NotedActing) {
    this.traceId = traceId;
    this.acting = acting;
  }

  /** How long it has taken so far, in ms. */
  get durationMs(): number {
    return performance.now() - this.clock.startedAt;
  }
}
