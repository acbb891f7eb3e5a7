import { type ErrorCode, errorCodes } from './error-codes.ts';
import { asServiceError, type Problem, problemContentType, toProblem } from './problem.ts';
import type { ServiceError } from './service-error.ts';

/** An answer that refuses a request. Headers are alternating names and values. */
export interface Refusal {
  status: number;
  headers: string[];
  body: string;
}

/** Read by published clients of payment and model APIs. Some of them take an error response without it for a success. */
interface ErrorMember {
  type: string;
  code: ErrorCode;
  message: string;
  /** The first member at fault. */
  param?: string;
}

/** `error` is read by published clients, `proxy_error` by ours. */
interface ProxyError {
  proxy_error: Problem & { destination_status?: number };
  error: ErrorMember;
}

export function toErrorMember(thrown: unknown): ErrorMember {
  const { code, detail, errors } = asServiceError(thrown);
  const [param] = Object.keys(errors ?? {});
  const message = `${errorCodes[code].title}: ${detail}`;
  return { type: `sluice_${code}`, code, message, ...(param !== undefined && { param }) };
}

function toProxyError(error: ServiceError, traceId: string, destinationStatus: number | undefined): ProxyError {
  // A caller who does not get the destination's response must still learn that it has acted
  const answered = destinationStatus === undefined ? undefined : { destination_status: destinationStatus };
  return { proxy_error: { ...toProblem(error, traceId), ...answered }, error: toErrorMember(error) };
}

/** What the destination has got of an invocation that is refused. */
interface Reached {
  /** Set if it had already responded. */
  destinationStatus?: number | undefined;
  /** Whether a request was sent to it that it must not get twice. */
  mayHaveActed?: boolean;
}

/** The refusal of an invocation. */
export function proxyRefusal(
  error: ServiceError,
  traceId: string,
  { destinationStatus, mayHaveActed = false }: Reached = {},
): Refusal {
  const body = toProxyError(error, traceId, destinationStatus);
  return refusalOf(error, 'application/json', body, retryHeaders(error, mayHaveActed));
}

/** A problem document. */
export function problemRefusal(error: ServiceError, traceId: string): Refusal {
  return refusalOf(error, problemContentType, toProblem(error, traceId), []);
}

function refusalOf({ status, retryAfterSeconds }: ServiceError, type: string, body: object, more: string[]): Refusal {
  const text = JSON.stringify(body);
  const headers = ['Content-Type', type, 'Content-Length', `${Buffer.byteLength(text)}`, ...more];
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', `${retryAfterSeconds}`);
  return { status, headers, body: text };
}

/** Where a retry would end in the same fault. Other 5xx may pass. */
const finalCodes: readonly ErrorCode[] = [
  'transform_failed',
  'reactor_failed',
  'destination_answer_unusable',
  'not_implemented',
  'loop_detected',
];
const passingStatuses = [408, 409, 429];

/**
 * Published clients repeat a 5xx by themselves unless one of these headers is `false`: the first is that of clients of model
 * APIs, the second stripe's.
 */
export const retryHeaderNames = ['x-should-retry', 'stripe-should-retry'] as const;

function retryHeaders({ code, status, retryAfterSeconds }: ServiceError, mayHaveActed: boolean): string[] {
  const isFinal = finalCodes.includes(code) || (status < 500 && !passingStatuses.includes(status));
  const isFutile = isFinal && retryAfterSeconds === undefined;
  // A retry could charge a card twice. At 408 the destination did not get the whole request
  const isRisky = mayHaveActed && status !== 408;
  return isFutile || isRisky ? retryHeaderNames.flatMap((name) => [name, 'false']) : [];
}
