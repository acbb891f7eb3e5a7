/** Clients at work until they are stopped. */
export interface Clients {
  /** Rejects when a client broke: that is a fault of the test. */
  broken: Promise<never>;
  /** Resolves when every client has its last answer. */
  stop(): Promise<void>;
}

/** Starts so many clients; each works until the signal is aborted. */
export function startClients(count: number, work: (number: number, signal: AbortSignal) => Promise<void>): Clients {
  const stopping = new AbortController();
  const running = Promise.all(Array.from({ length: count }, (_, number) => work(number, stopping.signal)));
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined); // whoever races it hears of it
  running.catch(reject);
  return {
    broken,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
