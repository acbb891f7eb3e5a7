import { type ErrorCode, ServiceError } from '@sluice/problems';
import { CustomHttpResponse } from './custom-http-response.ts';
import type { TransformLimits } from './limits.ts';
import type { UnreadableReason } from './thread/message/transform-message.ts';
import { placeInCode } from './thread/module-code.ts';
import type { GuestFailure, Outcome, Stop } from './thread/outcome.ts';
import type { CodeKind } from './transform-task.ts';

/** The code that failed. */
export interface FailedCode {
  kind: CodeKind;
  limits: TransformLimits;
}

const nounOf = (kind: CodeKind) => (kind === 'reactor' ? 'reactor' : 'transform');
const codeOf = (kind: CodeKind) => (kind === 'reactor' ? 'reactor_failed' : 'transform_failed');

type Failed = Exclude<Outcome, { kind: 'result' | 'message' | 'slow' | 'aborted' }>;

/** The `cause` of the error if a limit stopped the transform. */
export class TransformStopped extends Error {
  readonly limit: Stop;

  constructor(limit: Stop) {
    super(`Stopped by ${limit}`);
    this.name = 'TransformStopped';
    this.limit = limit;
  }
}

/** The `cause` if the transform threw. It is logged, so it contains no text of the Tenant, which may be secret. */
export class TransformThrew extends Error {
  /** Counted from 1, in the transform's own code; undefined if the stack does not show it. */
  readonly place: { line: number; column: number } | undefined;

  constructor(place: { line: number; column: number } | undefined) {
    super(place ? `The transform threw in line ${place.line}` : 'The transform threw');
    this.name = 'TransformThrew';
    this.place = place;
    delete this.stack;
  }
}

/** The message has a body that cannot be read. Only the pool's user knows whose fault that is, and how to answer. */
export class UnreadableBody extends Error {
  readonly reason: UnreadableReason;

  constructor(reason: UnreadableReason) {
    super(`The body is unreadable: ${reason}`);
    this.name = 'UnreadableBody';
    this.reason = reason;
  }
}

const serviceCodes = [
  'bad_request',
  'unauthenticated',
  'forbidden',
  'too_many_requests',
  'transform_failed',
] as const satisfies ErrorCode[];

export function toError(outcome: Failed, of: FailedCode): ServiceError | CustomHttpResponse | UnreadableBody {
  if (outcome.kind === 'stopped') return stopped(outcome.by, of);
  if (outcome.kind === 'unusable') {
    const { detail, reason, limit } = outcome;
    return new ServiceError('transform_failed', detail, { cause: new TypeError(reason), limit });
  }
  const { failure } = outcome;
  if (failure.kind === 'unreadable') return new UnreadableBody(failure.reason);
  if (failure.kind === 'error') return toServiceError(failure, of);
  return of.kind === 'reactor' ? responseOfReactor(failure) : toResponse(failure, of);
}

/** The error for any kind of code, also during its suspension. */
export function codeFailed(
  kind: CodeKind,
  what: string,
  options: ConstructorParameters<typeof ServiceError>[2],
): ServiceError {
  return new ServiceError(codeOf(kind), `The ${nounOf(kind)} ${what}`, options);
}

export function stopped(limit: Stop, { kind, limits }: FailedCode): ServiceError {
  if (limit === 'memoryWait')
    return new ServiceError(
      'unavailable',
      `There is not enough memory for the ${nounOf(kind)} at the moment; try again`,
      {
        cause: new TransformStopped(limit),
        retryAfterSeconds: 1,
      },
    );
  return codeFailed(kind, `was stopped: ${reason(limit, limits)}`, {
    cause: new TransformStopped(limit),
  });
}

function reason(limit: Exclude<Stop, 'memoryWait'>, limits: TransformLimits): string {
  switch (limit) {
    case 'cpuMs':
      return `it used more than ${limits.cpuMs} ms of CPU time`;
    case 'wallMs':
      return `it took longer than ${limits.wallMs} ms`;
    case 'heapBytes':
      return `it used more than ${limits.heapBytes} bytes of memory`;
    case 'stackBytes':
      return `it used more than ${limits.stackBytes} bytes of stack`;
    case 'outputBytes':
      return `its output has more than ${limits.outputBytes} bytes`;
    case 'hostCalls':
      return `it made more than ${limits.hostCalls} calls of the service`;
    case 'stuck':
      return 'it waited for a promise that can never settle';
    case 'crashed':
      return 'its thread crashed';
  }
}

function toServiceError(failure: GuestFailure & { kind: 'error' }, of: FailedCode): ServiceError {
  const { name, message = '', code, errors, stack = '', isCut } = failure;
  if (name === 'InternalError' && message === 'out of memory') return stopped('heapBytes', of);
  if (name === 'InternalError' && message === 'stack overflow') return stopped('stackBytes', of);
  const place = placeInCode(stack);
  const noun = nounOf(of.kind);
  const cause = new TransformThrew(place);
  const known = serviceCodes.find((candidate) => candidate === code);
  if (known) {
    const detail = message === '' ? `The ${noun} refused the request` : message;
    const limit = isCut ? 'field_errors' : undefined;
    const answered = known === 'transform_failed' ? codeOf(of.kind) : known;
    return new ServiceError(answered, detail, { ...(errors && { errors }), cause, limit });
  }
  const text = name === undefined ? `the ${noun} threw ${message}` : message === '' ? name : `${name}: ${message}`;
  return new ServiceError(codeOf(of.kind), place ? `${text} (line ${place.line})` : text, { cause });
}

/**
 * Reactors respond only with problems or results, because published clients read nothing else; so headers and body are not
 * used.
 */
function responseOfReactor({ status }: GuestFailure & { kind: 'response' }): ServiceError {
  const cause = new TransformThrew(undefined);
  if (status >= 400)
    return new ServiceError('reactor_failed', `The reactor responded with status ${status}`, { status, cause });
  const detail = `The reactor threw a CustomHttpResponseError with the status ${status}, but only 400 and above are errors`;
  return new ServiceError('reactor_failed', detail, { cause });
}

function toResponse(failure: GuestFailure & { kind: 'response' }, of: FailedCode): ServiceError | CustomHttpResponse {
  const { headersJson, bodyJson, written } = failure;
  const parts = [headersJson, bodyJson ?? '', written?.body ?? ''];
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (bytes > of.limits.outputBytes) return stopped('outputBytes', of);
  return new CustomHttpResponse(failure);
}
