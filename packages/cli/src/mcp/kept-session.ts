import { SluiceError } from '@sluice/sdk';
import { RefusedError } from '../failure.ts';
import type { RouteSession } from '../routes/open-route-session.ts';

/** A session that is made when it is first needed, and made again when it has ended. Calls share it. */
export class KeptSession {
  readonly #open: (signal: AbortSignal) => Promise<RouteSession>;
  readonly #closing = new AbortController();
  #current: Promise<RouteSession> | undefined;

  /** @param open stops when the signal is aborted, and leaves no session behind. */
  constructor(open: (signal: AbortSignal) => Promise<RouteSession>) {
    this.#open = open;
  }

  /**
   * Runs `act` with the session. If the service refuses the session's key, the session has ended, so `act` runs once
   * more, with a new session. Waits for a session until the signal at most.
   */
  async use<T>(act: (session: RouteSession) => Promise<T>, until: AbortSignal): Promise<T> {
    const current = this.#start();
    const session = await within(current, until);
    try {
      return await act(session);
    } catch (error) {
      if (!(error instanceof SluiceError && error.status === 401 && (await isKeyRefused(session, until)))) throw error;
      // Not if another call has made the new one already.
      if (this.#current === current) this.#current = undefined;
      return await act(await within(this.#start(), until));
    }
  }

  /** Ends the session, and stops the making of one. Later calls are refused. @throws {SluiceError} */
  async close(): Promise<void> {
    this.#closing.abort(new RefusedError('sluice mcp is ending'));
    const current = this.#current;
    if (!current) return;
    // A session that could not be made is not there to be ended, and its call was told why.
    const [made] = await Promise.allSettled([current]);
    if (made.status === 'fulfilled') await made.value.end();
  }

  #start(): Promise<RouteSession> {
    const { signal } = this.#closing;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#current) return this.#current;
    const opening = this.#open(signal);
    this.#current = opening;
    // The next call tries again.
    opening.catch(() => {
      if (this.#current === opening) this.#current = undefined;
    });
    return opening;
  }
}

/**
 * A transform may answer a call with 401, too. Then the key is still good: the call must not be sent again, because the
 * transform would act twice, and the session must stay, because it alone may use the tokens that the agent has made.
 * So this asks for the list of permissions, which every valid key may read.
 */
async function isKeyRefused({ client }: RouteSession, signal: AbortSignal): Promise<boolean> {
  try {
    await client.permissions.list({}, { signal }).page();
    return false;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return error.status === 401;
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
