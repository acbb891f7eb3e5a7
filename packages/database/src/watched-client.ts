import pg from 'pg';

/**
 * A class of clients that end themselves when Postgres has not answered for this long. A server process that hangs
 * keeps its connection alive: without this its pool would hand it out again and again.
 */
export function watchedClient(answerTimeoutMs: number): typeof pg.Client {
  return class WatchedClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      let timer: NodeJS.Timeout | undefined;
      const stop = () => clearTimeout(timer);
      // With a query under way end() does not wait for Postgres: it destroys the socket, and the query fails.
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
