/** Clients at work until they are stopped. */
export interface Clients {
  /** Rejects when a client broke: that is a fault of the test. */
  broken: Promise<never>;
  /** Resolves when every client has its last answer. */
  stop(): Promise<void>;
}

export function startClients(clients: readonly ((signal: AbortSignal) => Promise<void>)[]): Clients {
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

/** Starts so many clients that do the same again and again; the turns of each count from its number. */
export const startRepeating = (count: number, act: (turn: number) => Promise<void>): Clients =>
  startClients(
    Array.from({ length: count }, (_, number) => async (signal: AbortSignal) => {
      for (let turn = number; !signal.aborted; turn++) await act(turn);
    }),
  );
