/** What a failure is made of: the problem document of the service, or what is known without one. */
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
}

/** Any failure of a call. Never holds what was sent, nor a key. */
export class SluiceError extends Error {
  override readonly name: string = 'SluiceError';
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** The kind of failure, for programs: `validation_failed`. */
  readonly code: string | undefined;
  /** The kind of failure in words. */
  readonly title: string;
  /** What is wrong with this call. */
  readonly detail: string | undefined;
  /** For a validation failure: messages by the path of the member that they are about. */
  readonly errors: Record<string, string[]> | undefined;
  /** By which the service's logs are searched. */
  readonly traceId: string | undefined;
  /** After how long the service suggests another try. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ operation, status, code, title, detail, errors, traceId, retryAfterSeconds }: Failure) {
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
  }
}

/** 400: something in the request is not valid; `errors` says where. */
export class ValidationError extends SluiceError {
  override readonly name = 'ValidationError';
}

/** 401: the key is missing, unknown, expired or replaced. */
export class AuthenticationError extends SluiceError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key is good, and a permission or rule is missing. */
export class ForbiddenError extends SluiceError {
  override readonly name = 'ForbiddenError';
}

/** 404: there is none in the Tenant. */
export class NotFoundError extends SluiceError {
  override readonly name = 'NotFoundError';
}

/** 409: it clashes with something that exists. */
export class ConflictError extends SluiceError {
  override readonly name = 'ConflictError';
}

/** 422: a limit of the resource, or code that does not compile. */
export class UnprocessableError extends SluiceError {
  override readonly name = 'UnprocessableError';
}

/** 429: too many requests. */
export class RateLimitError extends SluiceError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the fault is the service's. */
export class ServiceError extends SluiceError {
  override readonly name = 'ServiceError';
}

/** There was no answer, or only a part of one. Whether the service has acted is not known. */
export class ConnectionError extends SluiceError {
  override readonly name: string = 'ConnectionError';
}

/** There was no answer in time. Whether the service has acted is not known. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

const byStatus: Readonly<Record<number, new (failure: Failure) => SluiceError>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableError,
  429: RateLimitError,
};

/** The error of a kind of failure: each problem type has one status, so the status decides. */
export function errorOf(failure: Failure): SluiceError {
  const { status = 0 } = failure;
  const Kind = byStatus[status] ?? (status >= 500 ? ServiceError : SluiceError);
  return new Kind(failure);
}
