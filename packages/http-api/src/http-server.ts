import { createServer, type RequestListener, type Server } from 'node:http';
import { answerClientError } from '@sluice/problems';
import { oneAfterAnother } from '@sluice/service-runtime';

/**
 * A server with the limits of an API: header block 16 KiB, 10 s for the headers, a minute for the whole request. Requests
 * of one connection are answered one after another, and what the parser refuses is answered behind them.
 */
export function createHttpServer(listener: RequestListener): Server {
  const turns = oneAfterAnother(listener);
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1000, // how late that may be; Node's default is 30 s
      requestTimeout: 60_000,
      keepAliveTimeout: 65_000,
    },
    turns.listener,
  );
  server.maxHeadersCount = 0; // Node would drop headers beyond its own limit without a word; createApi counts them
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The rest of that head may be there: we are not reading the connection while its earlier requests are answered.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && turns.isHeld(socket)) return;
    turns.afterError(socket, () => answerClientError(error, socket));
  });
  return server;
}
