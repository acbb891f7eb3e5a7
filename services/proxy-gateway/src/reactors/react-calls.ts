import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from '@sluice/credentials';
import { canonicalUuid } from '@sluice/http-api';
import type { RequestObserver, RequestOutcome } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { findReactor } from './find-reactor.ts';
import { RunNotes } from './run-notes.ts';

const current = new AsyncLocalStorage<RunNotes>();

/** Of the call of react or react-async that is being answered. */
export function notesOfCall(): RunNotes {
  const notes = current.getStore();
  if (!notes) throw new Error('Only requests have notes');
  return notes;
}

/** The paths of the operations whose calls are noted. */
export const reactPath = '/reactors/:id/react';
export const reactAsyncPath = '/reactors/:id/react-async';

type ReactContext = Pick<Context, 'db' | 'reactors' | 'noteEnded' | 'log'>;

/**
 * Notes each call of react when its response has ended, and each call of react-async that was refused; a run that
 * react-async has accepted is noted at its own end. A call of somebody unknown, or of an unknown reactor, is nobody's.
 */
export class ReactCalls {
  readonly #context: ReactContext;

  constructor(context: ReactContext) {
    this.#context = context;
  }

  /** The caller counts also where the request is refused before its reactor is looked for. */
  noteCaller(caller: Caller): void {
    const notes = current.getStore();
    if (notes) notes.caller ??= caller;
  }

  observe(observer: RequestObserver): RequestObserver {
    return {
      begin: (request) => {
        const observed = observer.begin(request);
        const notes = new RunNotes('');
        const [, , reactorId = ''] = (request.url ?? '').split('/', 3);
        return {
          traceId: observed.traceId,
          run: (work) => current.run(notes, () => observed.run(work)),
          end: (outcome) => {
            observed.end(outcome);
            const { route, status } = outcome;
            const isRefused = status >= 400;
            if (route === reactPath || (route === reactAsyncPath && isRefused))
              this.#noteEnd(notes, outcome, reactorId);
          },
        };
      },
    };
  }

  #noteEnd(notes: RunNotes, { status, errorCode, traceId, isComplete }: RequestOutcome, reactorId: string): void {
    const { noteEnded, log } = this.#context;
    const { durationMs } = notes;
    notes.traceId = traceId;
    notes.response.statusCode = status;
    notes.errorCode = errorCode ?? (isComplete ? undefined : 'caller_gone');
    if (notes.acting) noteEnded(notes, durationMs);
    else {
      const finding = this.#find(notes, reactorId).then(() => noteEnded(notes, durationMs));
      finding.catch((err: unknown) => log.warn({ err, trace_id: traceId }, 'a refused call of a reactor is not noted'));
    }
  }

  /** For a call that was refused before. */
  async #find(notes: RunNotes, reactorId: string): Promise<void> {
    const { caller } = notes;
    const id = canonicalUuid(reactorId);
    if (!caller || id === undefined) return;
    const owner = await findReactor({ tenantId: caller.tenantId, id }, this.#context);
    if (owner) notes.acting = { owner, caller };
  }
}
