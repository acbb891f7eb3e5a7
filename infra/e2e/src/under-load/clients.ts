/** Works until the signal is aborted. */
type Work = (signal: AbortSignal) => Promise<void>;

/** Clients at work until they are stopped. */
export interface Clients {
  /** Rejects when a client broke: that is a fault of the test. */
  broken: Promise<never>;
  /** Resolves when every client has its last answer. */
  stop(): Promise<void>;
}

export function startClients(clients: readonly Work[]): Clients {
  const stopping = new AbortController();
  const running = Promise.all(clients.map((work) => work(stopping.signal)));
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined); // who races it gets the reason
  running.catch(reject);
  return {
    broken,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** The work of a client that repeats one action. The action gets its number, counted from `first`. */
export const repeating =
  (act: (turn: number, signal: AbortSignal) => Promise<void>, first = 0): Work =>
  async (signal) => {
    for (let turn = first; !signal.aborted; turn++) await act(turn, signal);
  };

/** Starts so many of them; the turns of each count from its number. */
export const startRepeating = (count: number, act: (turn: number) => Promise<void>): Clients =>
  startClients(Array.from({ length: count }, (_, number) => repeating(act, number)));

/** Does something while clients are at work, and stops them. Rejects when one of them breaks. */
export async function whileAtWork<T>(clients: readonly Clients[], act: () => Promise<T>): Promise<T> {
  const stop = () => Promise.all(clients.map((some) => some.stop()));
  try {
    const result = await Promise.race([act(), ...clients.map(({ broken }) => broken)]);
    await stop();
    return result;
  } catch (error) {
    await stop().catch(() => undefined); // they fail because everything ends
    throw error;
  }
}
