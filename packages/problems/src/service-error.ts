import { type ErrorCode, errorCodes } from './error-codes.ts';

/** Messages by the path of their member, for example `{ "rules[0].priority": ["must be at least 1"] }`. */
export type FieldErrors = Record<string, string[]>;

export interface ServiceErrorOptions {
  /** Chosen by the code of a Tenant. Default: the status of the error's code. */
  status?: number;
  errors?: FieldErrors;
  /** Sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** Sent as `ETag`: the present version of what the request would have changed. */
  entityTag?: string | undefined;
  /** The limit that was reached, for metrics; never answered. */
  limit?: string | undefined;
  /** Logged and never answered. */
  cause?: unknown;
}

/** A failure that the caller sees; `detail` is public and must name no secret. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly entityTag: string | undefined;
  readonly limit: string | undefined;
  readonly status: number;

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.detail = detail;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.entityTag = options.entityTag;
    this.limit = options.limit;
    this.status = options.status ?? errorCodes[code].status;
  }
}

/** A 400: `validationFailed({ name: ['is required'] })`. The path '' is the body, shown as `$`. */
export function validationFailed(errors: FieldErrors): ServiceError {
  const detail = Object.entries(errors)
    .slice(0, 3)
    .map(([path, messages]) => `${path === '' ? 'the body' : path} ${messages[0]}`)
    .join('; ');
  const shown = Object.entries(errors).map(([path, messages]) => [path === '' ? '$' : path, messages]);
  return new ServiceError('validation_failed', detail, { errors: Object.fromEntries(shown) });
}

export function endedEarly(cause?: unknown): ServiceError {
  return new ServiceError('bad_request', 'The request ended before its body was complete', { cause });
}
