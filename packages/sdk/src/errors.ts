import type { ProblemCode } from './generated/problems.gen.ts';

/** The service's problem document, or the known facts without one. */
export interface Failure {
  /** For example `POST /tokens`: the operation, never its values. */
  operation: string;
  status?: number | undefined;
  /** The last part of the problem's `type`: `validation_failed`. */
  code?: string | undefined;
  title: string;
  detail?: string | undefined;
  errors?: Record<string, string[]> | undefined;
  traceId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  help?: string | undefined;
}

/** Any failure of a call. It never contains the request or a key. */
export class SluiceError extends Error {
  override readonly name: string = 'SluiceError';
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The error code, for programs: `validation_failed`. Without a response, the error code of the system. */
  readonly code: ProblemCode | (string & {}) | undefined;
  /** Short name of the error. */
  readonly title: string;
  /** What is wrong with this call. */
  readonly detail: string | undefined;
  /** Only for validation failures: the path of each field that is wrong, with messages. */
  readonly errors: Record<string, string[]> | undefined;
  /** Identifies the request in the service's logs. */
  readonly traceId: string | undefined;
  /** Seconds to wait before another attempt. */
  readonly retryAfterSeconds: number | undefined;
  /** The address of a page that says what the code means and what to do; undefined if the error is not one of the service. */
  readonly help: string | undefined;

  constructor({ operation, status, code, title, detail, errors, traceId, retryAfterSeconds, help }: Failure) {
    const fields = Object.entries(errors ?? {}).map(
      ([path, messages]) => `${path || 'the body'} ${messages.join(', ')}`,
    );
    const what = fields.length > 0 ? fields.join('; ') : (detail ?? title);
    const facts = [status && `status ${status}`, traceId && `trace ${traceId}`].filter(Boolean).join(', ');
    super(`${operation}: ${what}${facts ? ` (${facts})` : ''}`);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
    this.traceId = traceId;
    this.retryAfterSeconds = retryAfterSeconds;
    this.help = help;
  }
}

/** The request is not valid. `errors` names each field that is wrong. */
export class ValidationError extends SluiceError {
  override readonly name = 'ValidationError';
}

/** The key is missing, unknown, expired or replaced. */
export class AuthenticationError extends SluiceError {
  override readonly name = 'AuthenticationError';
}

/** The key is valid but lacks a permission or rule. */
export class ForbiddenError extends SluiceError {
  override readonly name = 'ForbiddenError';
}

/** The Tenant has no such resource. */
export class NotFoundError extends SluiceError {
  override readonly name = 'NotFoundError';
}

/** The request conflicts with an existing resource. */
export class ConflictError extends SluiceError {
  override readonly name = 'ConflictError';
}

/** A limit of the resource, or code that does not compile. */
export class UnprocessableError extends SluiceError {
  override readonly name = 'UnprocessableError';
}

export class RateLimitError extends SluiceError {
  override readonly name = 'RateLimitError';
}

/** The service failed. */
export class ServiceError extends SluiceError {
  override readonly name = 'ServiceError';
}

/** There was no response, or only a part of one. The service may or may not have acted on the request. */
export class ConnectionError extends SluiceError {
  override readonly name: string = 'ConnectionError';
}

/** There was no response in time. The service may or may not have acted on the request. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

type Kind = new (failure: Failure) => SluiceError;

/** The class of each problem type. Problems of invoking a Proxy have no classes of their own. */
const byCode: Readonly<Record<ProblemCode, Kind>> = {
  bad_request: ValidationError,
  validation_failed: ValidationError,
  invalid_proxy_request: ValidationError,
  unauthenticated: AuthenticationError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  method_not_allowed: SluiceError,
  request_timeout: SluiceError,
  conflict: ConflictError,
  precondition_failed: SluiceError,
  payload_too_large: SluiceError,
  unsupported_media_type: SluiceError,
  expectation_failed: SluiceError,
  limit_reached: UnprocessableError,
  transform_does_not_compile: UnprocessableError,
  code_does_not_compile: UnprocessableError,
  too_many_requests: RateLimitError,
  headers_too_large: SluiceError,
  internal: ServiceError,
  transform_failed: ServiceError,
  reactor_failed: ServiceError,
  not_implemented: ServiceError,
  destination_answer_unusable: ServiceError,
  destination_unreachable: ServiceError,
  destination_failed: ServiceError,
  unavailable: ServiceError,
  destination_timeout: ServiceError,
  loop_detected: ServiceError,
};

/** For answers without a known problem type: of a balancer, or of a newer service. */
const byStatus: Readonly<Record<number, Kind>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableError,
  429: RateLimitError,
};

/** The problem type decides on the class; without a known one, the status. */
export function errorOf(failure: Failure): SluiceError {
  const { status = 0, code = '' } = failure;
  const known = Object.hasOwn(byCode, code) ? byCode[code as ProblemCode] : byStatus[status];
  const Kind = known ?? (status >= 500 ? ServiceError : SluiceError);
  return new Kind(failure);
}
