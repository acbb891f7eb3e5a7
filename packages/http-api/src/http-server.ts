import { createServer, type RequestListener, type Server } from 'node:http';
import { answerClientError } from '@sluice/problems';

/** A server with the limits of an API: header block 16 KiB, 10 s for the headers, a minute for the whole request. */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(
    { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 },
    listener,
  );
  server.maxHeadersCount = 0; // Node would drop headers beyond its own limit without a word; createApi counts them
  server.on('clientError', (error, socket) => answerClientError(error, socket));
  return server;
}
