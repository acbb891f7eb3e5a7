import { type ErrorCode, errorCodes } from './error-codes.ts';

/** Messages by the path of the member that they are about, for example `{ "rules[0].priority": ["must be at least 1"] }`. */
export type FieldErrors = Record<string, string[]>;

export interface ServiceErrorOptions {
  /** What is wrong, member by member. */
  errors?: FieldErrors;
  /** Sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** What happened inside. It reaches the log, never the answer. */
  cause?: unknown;
}

/**
 * A failure that the caller is told about: `detail` is public and must name no secret.
 * Everything else that is thrown becomes a bare 500.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors: FieldErrors | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.detail = detail;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** A 400 that says where: `validationFailed({ name: ['is required'] })`. The path '' is the body itself, shown as `$`. */
export function validationFailed(errors: FieldErrors): ServiceError {
  const detail = Object.entries(errors)
    .slice(0, 3)
    .map(([path, messages]) => `${path === '' ? 'the body' : path} ${messages[0]}`)
    .join('; ');
  const shown = Object.entries(errors).map(([path, messages]) => [path === '' ? '$' : path, messages]);
  return new ServiceError('validation_failed', detail, { errors: Object.fromEntries(shown) });
}
