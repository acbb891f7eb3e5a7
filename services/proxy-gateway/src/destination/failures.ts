import { ServiceError } from '@sluice/problems';

/** One sentence for denied, refused, reset, unresolved and untrusted: the answer must not map the network. */
const unreachable = 'The destination could not be reached';

const codes = {
  bad_request: [
    'UND_ERR_INVALID_ARG',
    'ERR_INVALID_CHAR',
    'ERR_INVALID_HTTP_TOKEN',
    'ERR_HTTP_INVALID_HEADER_VALUE',
    'ERR_UNESCAPED_CHARACTERS',
  ],
  destination_timeout: ['EHEADTIMEOUT', 'ECONNECTTIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'],
  unavailable: ['ECLOSING', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'],
};

type OwnCode = 'EHEADTIMEOUT' | 'ECODING' | 'ECONNECTTIMEOUT' | 'ECLOSING' | 'ECUTOFF' | 'ERR_UNESCAPED_CHARACTERS';

/** An error of our own that this folder tells apart by its code. */
export function failure(code: OwnCode, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

/** What the caller is told when no response head came; the precise reason is the `cause`. */
export function failedBeforeHead(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = codeOf(error);
  if (codes.bad_request.includes(code)) {
    return new ServiceError(
      'bad_request',
      'The request to the destination has a header, path or method that HTTP does not allow',
      {
        cause: error,
      },
    );
  }
  if (codes.destination_timeout.includes(code)) {
    return new ServiceError('destination_timeout', 'The destination did not answer in time', { cause: error });
  }
  if (codes.unavailable.includes(code)) {
    return new ServiceError('unavailable', 'The gateway is stopping; try again', {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  return new ServiceError('destination_unreachable', unreachable, { cause: error });
}

/** Nobody was called: the last connections to this origin failed, see breaker.ts. */
export function breakerOpen(waitMs: number): ServiceError {
  return new ServiceError('unavailable', 'The destination could not be reached several times; try again later', {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}

/** Nobody was called: as many calls wait for a connection to this origin as may. */
export function tooManyWaiting(): ServiceError {
  return new ServiceError('unavailable', 'Too many calls wait for a connection to the destination; try again later', {
    retryAfterSeconds: 1,
  });
}

/** The response ended before its end. */
export function cutOff(cause: unknown): Error {
  return failure('ECUTOFF', 'The response of the destination was cut off', cause);
}

/** A connection that the other side gave up, rather than an answer that we do not understand. */
export function isConnectionLoss(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}
