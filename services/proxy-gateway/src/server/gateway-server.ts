import type { Server } from 'node:http';
import { answerClientError, answerConnect } from '@sluice/problems';
import { createOrderedServer } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { WholeRequest } from '../http/whole-request.ts';
import { serveInvocations } from '../invocation/serve.ts';
import { endIdleClients } from './client-idleness.ts';

const inProxyError = { contentType: 'application/json', wrap: (problem: object) => ({ proxy_error: problem }) };

interface ClientTimes {
  clientHeadMs: number;
  /** Milliseconds until a client must send more of an awaited body, or read more of its answer. */
  clientIdleMs: number;
}

/** Requests go from the parser straight to the invocation, because there is nothing to route. */
export function createGatewayServer(context: Context, { clientHeadMs, clientIdleMs }: ClientTimes): Server {
  const { server, connections } = createOrderedServer(serveInvocations(context), {
    IncomingMessage: WholeRequest,
    maxHeaderSize: 16 * 1024,
    headersTimeout: clientHeadMs,
    requestTimeout: 0, // a body may take any time as long as it progresses
    keepAliveTimeout: 65_000,
    noDelay: true,
    refuse: (error, socket) => answerClientError(error, socket, inProxyError),
    refuseConnect: (socket) => answerConnect(socket, inProxyError),
  });
  endIdleClients(server, connections, clientIdleMs);
  return server;
}
