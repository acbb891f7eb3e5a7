import { createServer, type Server } from 'node:http';
import { answerClientError, answerConnect } from '@sluice/problems';
import { oneAfterAnother } from '@sluice/service-runtime';
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

/**
 * The server of the gateway. Requests go from the parser straight to the invocation: there is nothing to route. The
 * count of headers is checked by us, since Node drops those beyond its own limit without a word.
 */
export function createGatewayServer(context: Context, { clientHeadMs, clientIdleMs }: ClientTimes): Server {
  const turns = oneAfterAnother(serveInvocations(context));
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: clientHeadMs,
      connectionsCheckingInterval: 1000, // how late that may be; Node's default is 30 s
      requireHostHeader: false, // the invocation refuses it, with a body as all refusals have
      requestTimeout: 0, // a body may take any time as long as it moves
      keepAliveTimeout: 65_000,
      noDelay: true,
    },
    turns.listener,
  );
  server.maxHeadersCount = 0;
  endIdleClients(server, turns, clientIdleMs);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The rest of that head may be there: it is us who do not read
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && turns.isHeld(socket)) return;
    turns.afterError(socket, () => answerClientError(error, socket, inProxyError));
  });
  server.on('checkExpectation', turns.listener); // Node's own 417 has no body; the invocation refuses it
  server.on('connect', (_request, socket) => answerConnect(socket, inProxyError));
  return server;
}
