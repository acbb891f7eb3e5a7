import { type ErrorCode, ServiceError } from '@sluice/problems';
import { errors } from 'undici';

interface Kind {
  is: RegExp;
  code: ErrorCode;
  detail: string;
  limit?: string;
}

/** The first match counts. Denied and refused connections read alike, to reveal neither the network nor the policy. */
const kinds: readonly Kind[] = [
  {
    is: /^(UND_ERR_INVALID_ARG|ERR_INVALID_CHAR|ERR_INVALID_HTTP_TOKEN|ERR_HTTP_INVALID_HEADER_VALUE|ERR_UNESCAPED_CHARACTERS)$/,
    code: 'bad_request',
    detail: 'The request to the destination would have a header, path or method that HTTP does not allow',
  },
  {
    is: /^ECONNECTTIMEOUT$/,
    code: 'destination_timeout',
    detail: 'The connection to the destination was not established in time',
  },
  {
    is: /^(EHEADTIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/,
    code: 'destination_timeout',
    detail: 'The destination did not answer in time',
  },
  {
    is: /^(ECLOSING|UND_ERR_CLOSED|UND_ERR_DESTROYED)$/,
    code: 'unavailable',
    detail: 'The gateway is stopping',
  },
  {
    is: /^(ENOTFOUND|ENODATA)$/,
    code: 'destination_unreachable',
    detail: 'The name of the destination was not found',
  },
  {
    is: /^(EDNS|EAI_[A-Z]+)$/,
    code: 'destination_unreachable',
    detail: 'The name of the destination could not be looked up; try again',
  },
  {
    is: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    code: 'destination_unreachable',
    detail: 'The TLS certificate of the destination is for another name',
  },
  {
    is: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    code: 'destination_unreachable',
    detail: 'The TLS certificate of the destination has expired or is not valid yet',
  },
  {
    is: /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED)/,
    code: 'destination_unreachable',
    detail:
      'The TLS certificate of the destination is from an authority that is not trusted; DESTINATION_CA_FILE adds authorities',
  },
  {
    is: /^(ETLS|EPROTO$|ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|INVALID_|HOSTNAME_)/,
    code: 'destination_unreachable',
    detail: 'The TLS connection to the destination failed',
  },
  {
    is: /^(EHEADTOOLARGE|HPE_HEADER_OVERFLOW|UND_ERR_HEADERS_OVERFLOW)$/,
    code: 'destination_answer_unusable',
    detail: 'The response of the destination has more headers than DESTINATION_HEADER_BYTES allows',
    limit: 'headers',
  },
  {
    is: /^(HPE_|ECODING$|UND_ERR_RES_|UND_ERR_RESPONSE|ERR_ASSERTION$)/,
    code: 'destination_answer_unusable',
    detail: 'The response of the destination is not valid HTTP/1.1',
  },
  {
    is: /^(ECUTOFF|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    code: 'destination_failed',
    detail: 'The destination closed the connection before it sent a response',
  },
];

const unreachable: Omit<Kind, 'is'> = {
  code: 'destination_unreachable',
  detail: 'The destination could not be reached',
};

type OwnCode =
  | 'EHEADTIMEOUT'
  | 'EHEADTOOLARGE'
  | 'ECODING'
  | 'ECONNECTTIMEOUT'
  | 'ECLOSING'
  | 'ECUTOFF'
  | 'EDNS'
  | 'EGIVENUP'
  | 'ETLS'
  | 'ERR_UNESCAPED_CHARACTERS';

export function failure(code: OwnCode, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

export function failedBeforeHead(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const happened = codeOf(error);
  const { code, detail, limit } = kinds.find(({ is }) => is.test(happened)) ?? unreachable;
  return new ServiceError(code, detail, {
    cause: error,
    limit,
    ...(code === 'unavailable' && { retryAfterSeconds: 1 }),
  });
}

/** For a failure after the head of a response. The caller then sees only a broken connection; metrics see the code. */
export function answerCutOff(cause: unknown): ServiceError {
  return new ServiceError('destination_failed', 'The response of the destination was interrupted', { cause });
}

export function tooManyWaiting(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many calls are queued for a connection to the destination; try again later',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** Never shown to a caller. It has none of undici's codes, because after some of them undici would connect again. */
export function givenUp(): Error {
  return failure('EGIVENUP', 'The call is over, so its connection is not made');
}

/** A fault of this service, so it has none of the codes for faults of a destination. */
export function notPassedOn(cause: unknown): Error {
  return new Error('The answer could not be passed on', { cause });
}

/** Whether the other side closed the connection, as opposed to an answer that cannot be parsed. */
export function isConnectionLoss(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return 'HPE_INVALID'; // undici omits the code
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}
