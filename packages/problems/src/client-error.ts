import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type ErrorCode, errorCodes } from './error-codes.ts';
import { problemRefusal, type Refusal } from './refusal.ts';
import { ServiceError } from './service-error.ts';

const known: Record<string, { code: ErrorCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'The headers may have at most 16 KiB' },
  HPE_INVALID_METHOD: {
    code: 'bad_request',
    detail: 'The request must start with an HTTP method in capital letters, such as POST',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive in time' },
};
const malformed = { code: 'bad_request', detail: 'The request is not valid HTTP/1.1' } as const;

type ToRefusal = (error: ServiceError, traceId: string) => Refusal;

/** For a server's `clientError`: answers, and ends the connection. */
export function answerClientError(
  error: Error & { code?: string },
  socket: Duplex,
  toRefusal: ToRefusal = problemRefusal,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, detail } = known[error.code ?? ''] ?? malformed;
  refuse(new ServiceError(code, detail), socket, toRefusal);
}

export function answerConnect(socket: Duplex, toRefusal: ToRefusal = problemRefusal): void {
  refuse(new ServiceError('bad_request', 'CONNECT is not supported'), socket, toRefusal);
}

function refuse(error: ServiceError, socket: Duplex, toRefusal: ToRefusal): void {
  const { status, headers, body } = toRefusal(error, randomUUID());
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []));
  const head = [`HTTP/1.1 ${status} ${errorCodes[error.code].title}`, ...lines, 'Connection: close'];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
