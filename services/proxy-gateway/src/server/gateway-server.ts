import type { Server } from 'node:http';
import { answerClientError, answerConnect } from '@sluice/problems';
import { createOrderedServer } from '@sluice/service-runtime';
import type { Context } from '../context.ts';
import { serveInvocations } from '../invocation/serve.ts';
import { endIdleClients } from './client-idleness.ts';

const inProxyError = { contentType: 'application/json', wrap: (problem: object) => ({ proxy_error: problem }) };

/** How long a client may take, in milliseconds. */
interface ClientTimes {
  /** To send a head. */
  clientHeadMs: number;
  /** To send more of a body that is awaited, or to take more of its answer. */
  clientIdleMs: number;
}

/** The server of the gateway. Requests go from the parser straight to the invocation: there is nothing to route. */
export function createGatewayServer(context: Context, { clientHeadMs, clientIdleMs }: ClientTimes): Server {
  const { server, turns } = createOrderedServer(serveInvocations(context), {
    maxHeaderSize: 16 * 1024,
    headersTimeout: clientHeadMs,
    requestTimeout: 0, // a body may take any time as long as it moves
    keepAliveTimeout: 65_000,
    noDelay: true,
    refuse: (error, socket) => answerClientError(error, socket, inProxyError),
    refuseConnect: (socket) => answerConnect(socket, inProxyError),
  });
  endIdleClients(server, turns, clientIdleMs);
  return server;
}
