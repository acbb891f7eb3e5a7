import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from './error-codes.ts';
import { type Problem, problemContentType, toProblem } from './problem.ts';
import { ServiceError } from './service-error.ts';

const known: Record<string, { code: ErrorCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'The header block may have at most 16 KiB' },
  HPE_INVALID_METHOD: {
    code: 'bad_request',
    detail: 'The request does not start with a method that HTTP knows, in capital letters, such as POST',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive in time' },
};
const malformed = { code: 'bad_request', detail: 'The request is not valid HTTP/1.1' } as const;

/** Default: a problem document. `wrap` puts the problem into another body. */
export interface RefusalShape {
  contentType?: string;
  wrap?: (problem: Problem) => object;
}

/** For a server's `clientError`: answers, and ends the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex, shape: RefusalShape = {}): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, detail } = known[error.code ?? ''] ?? malformed;
  refuse(new ServiceError(code, detail), socket, shape);
}

export function answerConnect(socket: Duplex, shape: RefusalShape = {}): void {
  refuse(new ServiceError('bad_request', 'CONNECT is not supported'), socket, shape);
}

function refuse(error: ServiceError, socket: Duplex, shape: RefusalShape): void {
  const { contentType = problemContentType, wrap = (problem: Problem) => problem } = shape;
  const problem = toProblem(error, randomUUID());
  const body = JSON.stringify(wrap(problem));
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
