import type { RequestListener, Server } from 'node:http';
import { answerClientError, answerConnect, proxyRefusal } from '@sluice/problems';
import { createOrderedServer } from '@sluice/service-runtime';
import { WholeRequest } from '../http/whole-request.ts';
import { endIdleClients } from './client-idleness.ts';

interface ClientTimes {
  clientHeadMs: number;
  /** Milliseconds within which a client must send more of an awaited body, or read more of its response. */
  clientIdleMs: number;
}

export function createGatewayServer(listener: RequestListener, { clientHeadMs, clientIdleMs }: ClientTimes): Server {
  const { server, connections } = createOrderedServer(listener, {
    IncomingMessage: WholeRequest,
    maxHeaderSize: 16 * 1024,
    headersTimeout: clientHeadMs,
    requestTimeout: 0, // a body may take any time as long as it progresses
    keepAliveTimeout: 65_000,
    noDelay: true,
    refuse: (error, socket) => answerClientError(error, socket, proxyRefusal),
    refuseConnect: (socket) => answerConnect(socket, proxyRefusal),
  });
  endIdleClients(server, connections, clientIdleMs);
  return server;
}
