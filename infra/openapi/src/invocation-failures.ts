import type { Part } from '@sluice/http-api';
import { type ErrorCode, errorCodes } from '@sluice/problems';

/** The errors of an invocation before the destination has answered: code, meaning, and an example of a detail. */
const failures: readonly [code: ErrorCode, meaning: string, detail: string][] = [
  [
    'invalid_proxy_request',
    'The proxy key is missing, an expression is not valid or names no token, or the request is malformed.',
    'There are no tokens 2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24',
  ],
  [
    'unauthenticated',
    'The Proxy requires an API key, and there is none or one that is not accepted.',
    'The SVC-API-KEY header must carry a valid API key',
  ],
  [
    'forbidden',
    "The key's Application does not hold `token:use`, or not on the container of a token in the body.",
    'This needs the permission token:use',
  ],
  ['not_found', "There is no Proxy with this key, or it is another Tenant's.", 'There is no Proxy with this key'],
  [
    'payload_too_large',
    'The body has tokens in it, or the Proxy a transform, and it is larger than 5 MiB.',
    'The body may have at most 5242880 bytes',
  ],
  [
    'unsupported_media_type',
    'An expression or a transform needs text, and the body is not text in its charset, or this charset is not supported there.',
    'The body is not text in UTF-16, as its Content-Type says',
  ],
  [
    'too_many_requests',
    'A transform threw `RateLimitError`, or there are too many requests.',
    'Too many requests; try again later',
  ],
  [
    'transform_failed',
    'A transform failed: the detail has name, message and line of what it threw. Or the service did, and says no more.',
    'TypeError: cannot read property of undefined (line 3)',
  ],
  ['not_implemented', 'The request asks for a WebSocket.', 'WebSockets are not supported'],
  [
    'destination_unreachable',
    'No connection to the destination could be made, or the destination policy denies it. The detail names a fault of the ' +
      'name or of TLS.',
    'The destination could not be reached',
  ],
  [
    'destination_failed',
    'The destination closed the connection before it had answered, or before all of an answer that a transform is to see.',
    'The destination closed the connection before it had answered',
  ],
  [
    'destination_answer_unusable',
    'The answer of the destination is not HTTP/1.1, has too many headers, or cannot be read for the response transform.',
    'The answer of the destination has more headers than DESTINATION_HEADER_BYTES allows',
  ],
  [
    'unavailable',
    'A part that the invocation needs is away. Send it again after the seconds that `Retry-After` names.',
    'A store that this request needs is not available; try again',
  ],
  [
    'loop_detected',
    'The request has come through here four times, as its `CDN-Loop` header says.',
    'This request has come through here 4 times: a destination leads back to the proxy that calls it',
  ],
  [
    'destination_timeout',
    'The destination gave no response within 25 seconds.',
    'The destination did not answer in time',
  ],
];

const trace = { 'SVC-TRACE-ID': { $ref: '#/components/headers/TraceId' } };
const shouldRetry = {
  'x-should-retry': { $ref: '#/components/headers/ShouldRetry' },
  'stripe-should-retry': { $ref: '#/components/headers/ShouldRetry' },
};
const retry = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

/** By component name. */
export const failureResponses: Record<string, Part> = Object.fromEntries(
  failures.map((failure) => [nameOf(failure[0]), failureResponse(failure)]),
);

/** By status. */
export const failureReferences: Record<string, Part> = Object.fromEntries(
  failures.map(([code]) => [errorCodes[code].status, { $ref: `#/components/responses/${nameOf(code)}` }]),
);

function nameOf(code: ErrorCode): string {
  return `ProxyError${errorCodes[code].status}`;
}

function failureResponse([code, meaning, detail]: (typeof failures)[number]): Part {
  const { status, title } = errorCodes[code];
  const instance = '7c1d2b1e-6f0a-4d59-9a42-1f6a2f1c9b7e';
  const problem = { type: `urn:sluice:problem:${code}`, title, status, detail, instance };
  const example = { proxy_error: problem, error: { type: `sluice_${code}`, code, message: `${title}: ${detail}` } };
  return {
    description: `${meaning} Where \`SVC-PROXY-DESTINATION-STATUS\` is present, it is the destination's own answer.`,
    headers: { ...trace, ...shouldRetry, ...((status === 503 || status === 429) && retry) },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ProxyError' }, example } },
  };
}

export const proxyError: Part = {
  type: 'object',
  title: 'ProxyError',
  description: 'An error raised inside the proxy.',
  required: ['proxy_error', 'error'],
  properties: {
    proxy_error: {
      allOf: [
        { $ref: '#/components/schemas/Problem' },
        {
          type: 'object',
          properties: {
            destination_status: {
              type: 'integer',
              minimum: 100,
              maximum: 599,
              description: 'The status with which the destination had answered, so it may have acted. Absent otherwise',
            },
          },
        },
      ],
    },
    error: {
      type: 'object',
      description: 'The same for published clients of payment and model APIs.',
      required: ['type', 'code', 'message'],
      properties: {
        type: { type: 'string', description: '`sluice_` and the code' },
        code: { type: 'string', description: 'The code of the kind of failure' },
        message: { type: 'string', description: 'Title and detail of the problem' },
        param: { type: 'string', description: 'The first member at fault, for a validation failure' },
      },
    },
  },
};
