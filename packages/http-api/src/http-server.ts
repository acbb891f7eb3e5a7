import type { RequestListener, Server } from 'node:http';
import { answerClientError, answerConnect } from '@sluice/problems';
import { createOrderedServer } from '@sluice/service-runtime';

/** Limits: 16 KiB of headers, 10 s for the headers, a minute for the whole request. */
export function createHttpServer(listener: RequestListener): Server {
  const { server } = createOrderedServer(listener, {
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    refuse: answerClientError,
    refuseConnect: answerConnect,
  });
  return server;
}
