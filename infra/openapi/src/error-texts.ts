import type { ErrorCode } from '@sluice/problems';

/** What a reader of the list of errors learns about a code. */
export interface ErrorText {
  /** What happened. */
  meaning: string;
  cause: string;
  remedy: string;
  /** Whether the same request may succeed later. */
  retry: string;
  /** The `detail` of an example. */
  detail: string;
  /** Set if only the code of a Tenant can raise it. */
  onlyFrom?: 'transforms' | 'reactors';
}

const no = 'No. The same request fails again.';
const later = 'Yes, after the number of seconds in `Retry-After`.';

/** One text for each code; the compiler refuses a code without one. */
export const errorTexts: Readonly<Record<ErrorCode, ErrorText>> = {
  bad_request: {
    meaning: 'The request cannot be processed as it was sent.',
    cause:
      'The request is not valid HTTP, a header has a wrong form, or an expression is malformed. Or the value of an expression cannot be written at the place of the expression. A transform or reactor can also throw `BadRequestError`.',
    remedy: 'Read `detail`: it names the header, the field or the position of the expression.',
    retry: no,
    detail: 'Header and query have different proxy keys; send one proxy key',
  },
  validation_failed: {
    meaning: 'A field of the body, a query parameter or a part of the path is not valid.',
    cause: 'A required field is missing, or a value has a wrong type, a wrong form or a wrong length.',
    remedy: 'Read `errors`: it has the path of each field that is wrong, with messages. Correct all of them.',
    retry: no,
    detail: 'name must not be empty',
  },
  invalid_proxy_request: {
    meaning: 'An expression names a token that does not exist.',
    cause: 'The token was deleted, it has expired, it belongs to another Tenant, or its id is misspelt.',
    remedy: 'Check the token ids in `detail`. Create the tokens again if they have expired.',
    retry: no,
    detail: 'Unknown tokens: 2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24',
  },
  unauthenticated: {
    meaning: 'The caller is not known.',
    cause:
      'The API key is missing, malformed, unknown, expired, deleted or regenerated. Or the Application or the Tenant of the key was deleted. In the console, the sign-in has ended.',
    remedy:
      'Send a valid API key in the header `SVC-API-KEY`. In the console, sign in again. A session key is valid only after the session was authorized.',
    retry: no,
    detail: 'The SVC-API-KEY header must contain a valid API key',
  },
  forbidden: {
    meaning: 'The caller is known, but may not do this.',
    cause:
      'The Application lacks a permission, or no rule grants it on the container of the token. A session may be limited to certain Proxies. The key of a public Application may be refused on pages whose origin is not in `allowed_origins`.',
    remedy:
      'Read `detail`: it names the permission or the token. Grant the permission or a rule to the Application, or use another key. `POST /applications/{id}/explain` says which rule decides.',
    retry: 'Only after the rights of the caller were changed.',
    detail: 'This operation needs the permission token:use',
  },
  not_found: {
    meaning: 'The Tenant has no such resource, or the path does not exist.',
    cause:
      'The id is wrong, the resource was deleted or has expired, or it belongs to another Tenant. For an unknown path, the base URL may be wrong.',
    remedy: 'Check the id and the path. Check that the key belongs to the Tenant of the resource.',
    retry: no,
    detail: 'Application 5b0c9a3e-2f64-4d0a-8a57-1d1f4c3b9e20 does not exist',
  },
  method_not_allowed: {
    meaning: 'The path exists, but does not accept this method.',
    cause: 'The request has a wrong method, or the path of another operation.',
    remedy: 'Use one of the methods in the header `Allow`.',
    retry: no,
    detail: 'This path accepts only GET, POST',
  },
  request_timeout: {
    meaning: 'The request was not received in time, or a stream was open for too long.',
    cause: 'The client or its network is slow, or the client stopped sending.',
    remedy:
      'Send the whole request without pauses. Operators can raise `BODY_TIMEOUT_MS` and `CLIENT_IDLE_TIMEOUT_MS`.',
    retry: 'Yes. Nothing was done.',
    detail: 'The body was not received in time',
  },
  conflict: {
    meaning: 'An existing resource or an earlier request prevents the operation.',
    cause:
      'An id or a name exists already, a resource is still in use, a nonce was used already, or the idempotency key was used with another body. The first request with an idempotency key may also be in progress.',
    remedy:
      'Read `detail`. Use another id, remove what prevents the change, or send a new idempotency key for a new request.',
    retry: 'Only if `Retry-After` is present: then the first request with the idempotency key has not ended.',
    detail: 'A token with this id exists already',
  },
  precondition_failed: {
    meaning: 'The resource was changed after you read it, so nothing was done.',
    cause: 'The header `If-Match` has an older version than the current one.',
    remedy: 'Read the resource again, make your change again, and send its current `ETag` as `If-Match`.',
    retry: 'Only with the current `ETag`.',
    detail: 'The resource was changed after you read it. Read it again, and send its current ETag as If-Match',
  },
  payload_too_large: {
    meaning: 'The request is too large, or it asks for a response that is too large.',
    cause:
      'The body has more bytes than the operation allows. Or a page of a list would have more than 8 MiB. Or values or filters need more memory than one request may use. Or the Proxy has a `response_guard`, and the request has more values than the guard can look for.',
    remedy: 'Send less in one request. For lists, ask for fewer items with `size`. The limit is in `detail`.',
    retry: no,
    detail: 'The body may have at most 5242880 bytes',
  },
  unsupported_media_type: {
    meaning: 'The type, the charset or the coding of the body is not supported.',
    cause:
      'The header `Content-Type` is missing or has another type than the operation takes, or the body is not valid text in its charset.',
    remedy: 'Send the `Content-Type` that `detail` names. A merge patch needs `application/merge-patch+json`.',
    retry: no,
    detail: 'The Content-Type must be application/json',
  },
  expectation_failed: {
    meaning: 'The header `Expect` has a value that the service does not support.',
    cause: 'The client sends another value than `100-continue`.',
    remedy: 'Remove the header `Expect`.',
    retry: no,
    detail: 'The Expect header may only have the value 100-continue',
  },
  limit_reached: {
    meaning:
      'The request would exceed a limit on the number of resources. Or it would remove the last resource of a kind of which at least one is required.',
    cause: 'For example, an Application has at most five keys, and a Tenant needs at least one OWNER.',
    remedy:
      'Read `detail`. If a limit is reached, first delete a resource that you do not need. If the request would remove the last resource that is required, first add another resource of the same kind.',
    retry: no,
    detail: 'An Application has at most 5 keys; delete one first',
  },
  transform_does_not_compile: {
    meaning: 'The code of a transform has a syntax error. Nothing was saved.',
    cause: 'The code is not a valid CommonJS module, for example because it uses `import` or `export`.',
    remedy:
      'Correct the code at the line and column in `detail`. `POST /proxies/test-transform` tests code without saving it.',
    retry: no,
    detail: "request_transform.code: unexpected '}' (line 3, column 7)",
  },
  code_does_not_compile: {
    meaning: 'The code of a reactor or of a formula has a syntax error. Nothing was saved.',
    cause: 'The code is not a valid CommonJS module, for example because it uses `import` or `export`.',
    remedy: 'Correct the code at the line and column in `detail`. `POST /reactors/test` tests code without saving it.',
    retry: no,
    detail: "code: unexpected '}' (line 3, column 7)",
  },
  too_many_requests: {
    meaning: 'A rate limit or the limit of a queue is reached.',
    cause:
      'The Application, the Proxy, the Tenant or the client address has reached a limit. It has sent too many requests, has too many requests open at once, or has too many streams open at once. A transform or reactor can also throw `RateLimitError`.',
    remedy: 'Send fewer requests at a time. Operators can raise the limits, which are settings of the services.',
    retry: later,
    detail: 'Too many requests; try again later',
  },
  headers_too_large: {
    meaning: 'The request has too many or too large headers.',
    cause: 'The headers have more than 16 KiB, or there are more than 100.',
    remedy: 'Send fewer or shorter headers.',
    retry: no,
    detail: 'A request may have at most 100 headers',
  },
  internal: {
    meaning: 'The service failed because of an internal error.',
    cause: 'A bug, or stored data that cannot be read. The logs have the details; the response does not.',
    remedy: 'Search the logs for the trace id in `instance`, and tell the operators.',
    retry: 'Perhaps. For a request that changes something, send an idempotency key, so that nothing is done twice.',
    detail: 'The request could not be processed',
  },
  transform_failed: {
    meaning: 'The code of a transform has failed.',
    cause: 'The code threw an error, reached a limit, or returned something that cannot be sent.',
    remedy:
      'Read `detail`: it has name, message and line of the error. `POST /proxies/test-transform` runs the code with your arguments.',
    retry:
      'No. If a response transform failed, the destination has already acted on the request. If a request transform failed, the same request usually fails again.',
    detail: 'TypeError: cannot read property of undefined (line 3)',
    onlyFrom: 'transforms',
  },
  reactor_failed: {
    meaning: 'The code of a reactor has failed.',
    cause: 'The code threw an error, reached a limit, or returned something that is not an object.',
    remedy:
      'Read `detail`: it has name, message and line of the error. `POST /reactors/test` runs the code with your arguments.',
    retry: 'No. The code may already have called other services.',
    detail: 'TypeError: cannot read property of undefined (line 3)',
    onlyFrom: 'reactors',
  },
  not_implemented: {
    meaning: 'The service does not support this.',
    cause: 'The request opens a WebSocket, or code calls a method that the client `svc` does not have.',
    remedy: 'Use ordinary HTTP requests, and the methods of `svc` in the reference.',
    retry: no,
    detail: 'WebSockets are not supported',
  },
  destination_answer_unusable: {
    meaning: 'The destination has sent a response that cannot be used.',
    cause:
      'The response is not valid HTTP/1.1, has too many headers, or is a partial response (206) that was not requested. With a response transform: the response is too large for it, or has a form that it cannot read. With a `response_guard`: the response has a coding that the guard cannot read, or contains a value that the guard blocks.',
    remedy:
      'Read `detail`. Correct the destination. Or use another Proxy. If a response transform cannot read the response, use a Proxy without a response transform. If a `response_guard` refuses the response, use a Proxy without a `response_guard`.',
    retry: 'No. The destination has already acted on the request.',
    detail: 'The response of the destination is not valid HTTP/1.1',
  },
  destination_unreachable: {
    meaning: 'The gateway could not connect to the destination. The destination did not get the request.',
    cause:
      'The name does not exist, nothing listens at the address, the TLS certificate is not accepted, or the destination policy denies the address.',
    remedy:
      'Check `destination_url`. Operators check `DESTINATION_ALLOW`, `DESTINATION_DENY`, `DESTINATION_CA_FILE` and the name servers.',
    retry: 'Yes, if the destination was unavailable for a short time.',
    detail: 'The name of the destination was not found',
  },
  destination_failed: {
    meaning: 'The destination closed the connection before the end of its response.',
    cause: 'The destination was stopped, has crashed, or refused the request by closing the connection.',
    remedy: 'Check at the destination whether it has acted on the request.',
    retry: 'Only if the destination accepts the same request twice.',
    detail: 'The destination closed the connection before it sent a response',
  },
  unavailable: {
    meaning: 'The service cannot process the request now.',
    cause:
      'Postgres, Redis or the key service is unavailable, a queue is full, memory is in use by other requests, or the service is stopping.',
    remedy: 'Wait, and send the request again. If `detail` says that a list or search took too long, make it narrower.',
    retry: later,
    detail: 'A store that this request needs is unavailable; try again',
  },
  destination_timeout: {
    meaning: 'The destination sent no response in time.',
    cause:
      'The destination is slow. The limit is `head_timeout_s` of the Proxy. If the Proxy has none, the limit is the setting `DESTINATION_HEAD_TIMEOUT_MS`, which is 25 seconds by default.',
    remedy: 'Check at the destination whether it has acted on the request.',
    retry: 'Only if the destination accepts the same request twice.',
    detail: 'The destination did not answer in time',
  },
  loop_detected: {
    meaning: 'The request came back to the service too often.',
    cause: 'The `destination_url` of a Proxy leads back to this service, directly or through another service.',
    remedy: 'Correct `destination_url`. A request can pass through the service at most four times.',
    retry: no,
    detail: 'This request has passed through this service 4 times: a destination leads back to the Proxy that calls it',
  },
};
