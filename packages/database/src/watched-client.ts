import pg from 'pg';

/**
 * A class of clients that close when Postgres has not answered for this long. A server process that hangs keeps its
 * connection open, so the pool would otherwise hand it out again and again.
 */
export function watchedClient(answerTimeoutMs: number): typeof pg.Client {
  return class WatchedClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      let timer: NodeJS.Timeout | undefined;
      const stop = () => clearTimeout(timer);
      // While a query is under way, end() destroys the socket without waiting for Postgres, and the query fails.
      const giveUp = () => void this.end();
      const send = this.query;
      this.query = ((...query: unknown[]) => {
        stop();
        timer = setTimeout(giveUp, answerTimeoutMs).unref();
        return Reflect.apply(send, this, query);
      }) as typeof this.query;
      this.on('drain', stop).on('end', stop);
    }
  };
}
