import { SluiceError } from '@sluice/sdk';
import { RefusedError } from '../failure.ts';
import type { RouteSession } from '../routes/open-route-session.ts';

/** A session that is made when it is first needed, and made again when it has ended. Calls share it. */
export class KeptSession {
  readonly #open: () => Promise<RouteSession>;
  #current: Promise<RouteSession> | undefined;
  #isClosed = false;

  constructor(open: () => Promise<RouteSession>) {
    this.#open = open;
  }

  /**
   * Runs `act` with the session. If the service refuses the session's key, the session has ended and nothing was done
   * with it, so `act` runs once more, with a new session. Waits for a session until the signal at most.
   */
  async use<T>(act: (session: RouteSession) => Promise<T>, until: AbortSignal): Promise<T> {
    const current = this.#start();
    const session = await within(current, until);
    try {
      return await act(session);
    } catch (error) {
      if (!(error instanceof SluiceError && error.status === 401)) throw error;
      // Not if another call has made the new one already.
      if (this.#current === current) this.#current = undefined;
      return await act(await within(this.#start(), until));
    }
  }

  /** Ends the session, also one that is being made. Later calls are refused. @throws {SluiceError} */
  async close(): Promise<void> {
    this.#isClosed = true;
    const current = this.#current;
    if (!current) return;
    // A session that could not be made is not there to be ended, and its call was told why.
    const [made] = await Promise.allSettled([current]);
    if (made.status === 'fulfilled') await made.value.end();
  }

  #start(): Promise<RouteSession> {
    if (this.#isClosed) return Promise.reject(new RefusedError('sluice mcp is ending'));
    if (this.#current) return this.#current;
    const opening = this.#open();
    this.#current = opening;
    // The next call tries again.
    opening.catch(() => {
      if (this.#current === opening) this.#current = undefined;
    });
    return opening;
  }
}

/** Settles with the signal at the latest. The work goes on, because it is others' too. */
function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
