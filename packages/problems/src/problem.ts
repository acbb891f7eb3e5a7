import { errorCodes } from './error-codes.ts';
import { type FieldErrors, ServiceError } from './service-error.ts';

/** RFC 9457 problem details. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The trace id of the request. */
  instance: string;
  errors?: FieldErrors;
}

export const problemContentType = 'application/problem+json';

export function toProblem(error: unknown, traceId: string): Problem {
  const known = asServiceError(error);
  const { status, title } = errorCodes[known.code];
  return {
    type: `urn:sluice:problem:${known.code}`,
    title,
    status,
    detail: known.detail,
    instance: traceId,
    ...(known.errors && { errors: known.errors }),
  };
}

/** An unavailable store becomes a 503; any other unknown error a 500 that says nothing. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isStoreAway(error)) {
    return new ServiceError('unavailable', 'A store that this request needs is not available; try again', {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  return new ServiceError('internal', 'The request could not be processed', { cause: error });
}

/** Socket errors, and SQLSTATE classes of a server that stops, starts, is full or too slow (Postgres appendix A). */
const awayCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|57014|55P03|25P03|40P01)$/;

/** pg gives these no code. The last is what a rollback reports after a lost connection, hiding the cause. */
const awayMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Cannot use a pool after|Client .* and is not queryable$)/;

function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (awayCodes.test(code) || awayMessages.test(error.message)) return true;
  return error instanceof AggregateError && error.errors.length > 0 && error.errors.every(isStoreAway);
}
