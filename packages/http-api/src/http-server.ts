import { createServer, type RequestListener, type Server } from 'node:http';

/** A server with the limits of every service: header block 16 KiB, 100 headers, 10 s for the headers. */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(
    { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 },
    listener,
  );
  server.maxHeadersCount = 100;
  return server;
}
