import type { Part } from '@sluice/http-api';
import { type ErrorCode, errorCodes } from '@sluice/problems';

/** The errors of an invocation before the destination has answered: code, meaning, and an example of a detail. */
const failures: readonly [code: ErrorCode, meaning: string, detail: string][] = [
  [
    'invalid_proxy_request',
    'The proxy key is missing, an expression is not valid, a token in an expression does not exist, or the request is malformed.',
    'Unknown tokens: 2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24',
  ],
  [
    'unauthenticated',
    'The Proxy requires an API key, and the request has none, or one that is not valid.',
    'The SVC-API-KEY header must contain a valid API key',
  ],
  [
    'forbidden',
    '`detail` names the cause. Possible causes: the Application or session of the key does not have `token:use`, or does not have it on the containers of a token in the request; the Application of the Proxy was deleted, has expired, or does not have `token:use` on a token in the `request_headers` of the Proxy; the key may not invoke this Proxy; the Proxy does not allow the method or the path; the `use` of a token does not allow the call; a transform threw `AuthorizationError`.',
    'This operation needs the permission token:use',
  ],
  ['not_found', 'No Proxy of the Tenant has this proxy key.', 'No Proxy has this key'],
  [
    'payload_too_large',
    'The body is larger than 5 MiB and must be buffered, because the Proxy has a transform or the body has an expression. Or the Proxy has a `response_guard`, and the expressions insert more values than the guard can look for in the response.',
    'The body may have at most 5242880 bytes',
  ],
  [
    'unsupported_media_type',
    'The body must be read as text, because it has an expression or the Proxy has a transform. But the charset of the body is not supported, or the body is not valid in its charset.',
    'The charset of the body is UTF-16, but the body is not valid text in UTF-16',
  ],
  [
    'too_many_requests',
    'A rate limit was reached, or a transform threw `RateLimitError`.',
    'Too many requests; try again later',
  ],
  [
    'transform_failed',
    'A transform failed, and `detail` has name, message and line of the error. Or the service failed: search the logs for the trace id.',
    'TypeError: cannot read property of undefined (line 3)',
  ],
  ['not_implemented', 'The request opens a WebSocket, which is not supported.', 'WebSockets are not supported'],
  [
    'destination_unreachable',
    'The gateway could not connect to the destination, or the destination policy denies it. `detail` names an error of the ' +
      'name look-up or of TLS.',
    'The destination could not be reached',
  ],
  [
    'destination_failed',
    'The destination closed the connection before it sent a response, or before the end of a response that a transform needs.',
    'The destination closed the connection before it sent a response',
  ],
  [
    'destination_answer_unusable',
    'The response of the destination is not HTTP/1.1, has too many headers, or cannot be read for the response transform.',
    'The response of the destination has more headers than DESTINATION_HEADER_BYTES allows',
  ],
  [
    'unavailable',
    'The service is overloaded, a store such as Postgres is unavailable, or the gateway stopped before the destination had ' +
      'answered. Retry after the number of seconds in `Retry-After`, unless `x-should-retry` is `false`.',
    'A store that this request needs is unavailable; try again',
  ],
  [
    'loop_detected',
    'The request has passed through this service four times, according to its `CDN-Loop` header.',
    'This request has passed through this service 4 times: a destination leads back to the Proxy that calls it',
  ],
  [
    'destination_timeout',
    'The destination sent no response within the `head_timeout_s` of the Proxy (default 25 seconds). It may have acted on the request.',
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
    description: `${meaning} If \`SVC-PROXY-DESTINATION-STATUS\` is present, the response is from the destination instead.`,
    headers: { ...trace, ...shouldRetry, ...((status === 503 || status === 429) && retry) },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ProxyError' }, example } },
  };
}

export const proxyError: Part = {
  type: 'object',
  title: 'ProxyError',
  description: 'An error of Sluice itself, not of the destination.',
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
              description:
                'Status that the destination had sent before the error. The destination may have acted on the request. Absent if it had not responded',
            },
          },
        },
      ],
    },
    error: {
      type: 'object',
      description: 'The error once more, in the form that client libraries of payment APIs and of AI models read.',
      required: ['type', 'code', 'message'],
      properties: {
        type: { type: 'string', description: '`sluice_` and the error code' },
        code: { type: 'string', description: 'The error code' },
        message: { type: 'string', description: '`title` and `detail` of the problem' },
        param: { type: 'string', description: 'Path of the first field that is wrong. Only for validation failures' },
      },
    },
  },
};
