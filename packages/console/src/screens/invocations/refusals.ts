/** What ended an invocation, by the code of its error. */
const refusals: Readonly<Record<string, string>> = {
  bad_request: 'The request was malformed',
  validation_failed: 'The request was not valid',
  invalid_proxy_request: 'An expression or a token in the request was wrong',
  unauthenticated: 'There was no valid key',
  forbidden: 'The key may not do this',
  not_found: 'There is no such Proxy, Reactor, route or token',
  request_timeout: 'The request was sent too slowly',
  payload_too_large: 'The body was too large, or the request had more values than the response guard can look for',
  unsupported_media_type: 'The body had a type or charset that cannot be read',
  headers_too_large: 'The headers of the request were too large',
  loop_detected: 'The request had come through Sluice before',
  too_many_requests: 'A limit of the Tenant or of the key was reached',
  reactor_failed: 'The code of the Reactor threw an error or took too long',
  transform_failed: 'The transform threw an error or took too long',
  destination_answer_unusable: 'The response of the destination could not be used',
  destination_unreachable: 'The destination could not be reached',
  destination_failed: 'The destination closed the connection',
  destination_timeout: 'The destination did not answer in time',
  unavailable: 'The service was unavailable',
  internal: 'The service had an error',
  cancelled: 'The run was cancelled before it called another service',
  caller_gone: 'The caller closed the connection',
};

export function whyRefused(code: string): string {
  return refusals[code] ?? code.replaceAll('_', ' ');
}
