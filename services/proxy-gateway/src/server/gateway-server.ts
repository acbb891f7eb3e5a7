import { createServer, type Server } from 'node:http';
import { answerClientError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { serveInvocations } from '../invocation/serve.ts';
import { endIdleClients } from './client-idleness.ts';
import { oneAfterAnother } from './one-after-another.ts';

/**
 * The server of the gateway. Requests go from the parser straight to the invocation: there is nothing to route. The
 * count of headers is checked by us, since Node drops those beyond its own limit without a word.
 */
export function createGatewayServer(context: Context, { clientIdleMs }: { clientIdleMs: number }): Server {
  const turns = oneAfterAnother(serveInvocations(context));
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
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
    const wrap = (problem: object) => ({ proxy_error: problem });
    turns.afterError(socket, () => answerClientError(error, socket, { contentType: 'application/json', wrap }));
  });
  server.on('checkExpectation', turns.listener); // Node's own 417 has no body; the invocation refuses it
  server.on('connect', (_request, socket) => {
    // Node has let go of the socket: an error that nobody hears would end the process, and nobody would close it.
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy());
  });
  return server;
}
