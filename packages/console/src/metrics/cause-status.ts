/** The status of the response that an error code ends with. One of a code that is not here is not known. */
const statuses: Readonly<Record<string, number>> = {
  bad_request: 400,
  validation_failed: 400,
  invalid_proxy_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  limit_reached: 422,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  transform_failed: 500,
  reactor_failed: 500,
  not_implemented: 501,
  destination_answer_unusable: 502,
  destination_unreachable: 502,
  destination_failed: 502,
  unavailable: 503,
  destination_timeout: 504,
  loop_detected: 508,
};

export function statusOf(cause: string): string | undefined {
  return statuses[cause]?.toString();
}
