/**
 * Every way in which a request can fail, with its HTTP status (RFC 9110 section 15) and title. The code is also the end
 * of the problem's `type`.
 */
export const errorCodes = {
  bad_request: { status: 400, title: 'Bad request' },
  validation_failed: { status: 400, title: 'One or more validation errors occurred.' },
  invalid_proxy_request: { status: 400, title: 'Invalid proxy request' },
  unauthenticated: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  conflict: { status: 409, title: 'Conflict' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  expectation_failed: { status: 417, title: 'Expectation failed' },
  limit_reached: { status: 422, title: 'Limit reached' },
  transform_does_not_compile: { status: 422, title: 'Transform does not compile' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'Request header fields too large' },
  internal: { status: 500, title: 'Internal server error' },
  transform_failed: { status: 500, title: 'Transform failed' },
  not_implemented: { status: 501, title: 'Not implemented' },
  destination_answer_unusable: { status: 502, title: 'Destination answer unusable' },
  destination_unreachable: { status: 502, title: 'Destination unreachable' },
  destination_failed: { status: 502, title: 'Destination failed' },
  unavailable: { status: 503, title: 'Service unavailable' },
  destination_timeout: { status: 504, title: 'Destination timed out' },
  loop_detected: { status: 508, title: 'Loop detected' },
} as const;

export type ErrorCode = keyof typeof errorCodes;
