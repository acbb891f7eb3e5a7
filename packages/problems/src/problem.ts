import { type ErrorCode, errorCodes } from './error-codes.ts';
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

/** A `Link` (RFC 8288) to the entry of the error in the list that base host and console host serve. */
export function helpLink(code: ErrorCode): string {
  return `</docs/errors#${code}>; rel="help"`;
}

export const problemContentType = 'application/problem+json';

export function toProblem(error: unknown, traceId: string): Problem {
  const known = asServiceError(error);
  return {
    type: `urn:sluice:problem:${known.code}`,
    title: errorCodes[known.code].title,
    status: known.status,
    detail: known.detail,
    instance: traceId,
    ...(known.errors && { errors: known.errors }),
  };
}

/** An unavailable store becomes a 503; any other unknown error a 500 that says nothing. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isCancelled(error)) {
    return new ServiceError('unavailable', tookTooLong, { retryAfterSeconds: 5, cause: error });
  }
  if (isTooBusy(error)) {
    return new ServiceError('unavailable', error.message, { retryAfterSeconds: 1, limit: error.limit, cause: error });
  }
  if (isStoreAway(error)) {
    return new ServiceError('unavailable', 'A store that this request needs is unavailable; try again', {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  return new ServiceError('internal', 'The request could not be processed', { cause: error });
}

const tookTooLong =
  'The request took too long in the database and was cancelled. Use a narrower query or filter. For tokens, use ' +
  '/v2/tokens or /v2/tokens/search, which have no page numbers. For /logs, use start';

/** `query_canceled`, at the timeout of a statement. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014';
}

/** `TooBusyError` of `@sluice/database`, known by its code, because neither package imports the other. */
function isTooBusy(error: unknown): error is Error & { limit: string } {
  return error instanceof Error && 'code' in error && error.code === 'ETOOBUSY' && 'limit' in error;
}

/** Socket errors, and SQLSTATE classes of a server that stops, starts, is full or too slow (Postgres appendix A). */
const awayCodes = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|55P03|25P03|40P01)$/;

/** pg gives these no code. The last is what a rollback reports after a lost connection, hiding the cause. */
const awayMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Cannot use a pool after|Client .* and is not queryable$)/;

/** Citus reports a lost worker as an internal or an I/O error, so its sentence has to tell it from other faults. */
const lostShardCodes = /^(XX000|58030)$/;
const lostShardMessages =
  /failure on connection marked as essential|server closed the connection unexpectedly|SSL SYSCALL error|failed to COPY to shard/;

function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (awayCodes.test(code) || awayMessages.test(error.message)) return true;
  if (lostShardCodes.test(code) && lostShardMessages.test(error.message)) return true;
  return error instanceof AggregateError && error.errors.length > 0 && error.errors.every(isStoreAway);
}
