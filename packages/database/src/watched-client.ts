import type { Duplex } from 'node:stream';
import pg from 'pg';

/** Closes clients that get no answer, because the pool would hand out a hanging connection again and again. */
export function watchedClient(answerTimeoutMs: number): typeof pg.Client {
  return class WatchedClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      let timer: NodeJS.Timeout | undefined;
      const stop = () => clearTimeout(timer);
      // `end` would wait for the queries under way. They fail instead.
      const giveUp = () => socketOf(this).destroy();
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

/** pg has no other way to end a connection that takes several queries at once. */
function socketOf(client: pg.Client): Duplex {
  const connection: { stream: Duplex } = Reflect.get(client, 'connection');
  return connection.stream;
}
