import { type ErrorCode, ServiceError } from '@sluice/problems';
import { CustomHttpResponse } from './custom-http-response.ts';
import type { TransformLimits } from './limits.ts';
import type { UnreadableReason } from './thread/message/transform-message.ts';
import { placeInCode } from './thread/module-code.ts';
import type { GuestFailure, Outcome, Stop } from './thread/outcome.ts';

type Failed = Exclude<Outcome, { kind: 'result' | 'message' | 'slow' }>;

/** The `cause` of the error when a limit stopped the transform. */
export class TransformStopped extends Error {
  readonly limit: Stop;

  constructor(limit: Stop) {
    super(`Stopped by ${limit}`);
    this.name = 'TransformStopped';
    this.limit = limit;
  }
}

/** The `cause` when the transform threw. It is logged, so it holds no text of the Tenant, which may be secret. */
export class TransformThrew extends Error {
  /** Counted from 1, in the transform's own code; undefined when the stack does not lead there. */
  readonly place: { line: number; column: number } | undefined;

  constructor(place: { line: number; column: number } | undefined) {
    super(place ? `The transform threw in line ${place.line}` : 'The transform threw');
    this.name = 'TransformThrew';
    this.place = place;
    delete this.stack;
  }
}

/** The message has a body that cannot be read. Only the pool's user knows whose fault that is, and what to answer. */
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

export function toError(outcome: Failed, limits: TransformLimits): ServiceError | CustomHttpResponse | UnreadableBody {
  if (outcome.kind === 'stopped') return stopped(outcome.by, limits);
  if (outcome.kind === 'unusable') {
    const { detail, reason, limit } = outcome;
    return new ServiceError('transform_failed', detail, { cause: new TypeError(reason), limit });
  }
  const { failure } = outcome;
  if (failure.kind === 'unreadable') return new UnreadableBody(failure.reason);
  return failure.kind === 'response' ? toResponse(failure, limits) : toServiceError(failure, limits);
}

export function stopped(limit: Stop, limits: TransformLimits): ServiceError {
  return new ServiceError('transform_failed', `The transform was stopped: ${reason(limit, limits)}`, {
    cause: new TransformStopped(limit),
  });
}

function reason(limit: Stop, limits: TransformLimits): string {
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
      return 'it waits for a promise that can never settle';
    case 'crashed':
      return 'its environment broke';
  }
}

function toServiceError(failure: GuestFailure & { kind: 'error' }, limits: TransformLimits): ServiceError {
  const { name, message = '', code, errors, stack = '', isCut } = failure;
  if (name === 'InternalError' && message === 'out of memory') return stopped('heapBytes', limits);
  if (name === 'InternalError' && message === 'stack overflow') return stopped('stackBytes', limits);
  const place = placeInCode(stack);
  const cause = new TransformThrew(place);
  const known = serviceCodes.find((candidate) => candidate === code);
  if (known) {
    const detail = message === '' ? 'The transform refused the request' : message;
    const limit = isCut ? 'field_errors' : undefined;
    return new ServiceError(known, detail, { ...(errors && { errors }), cause, limit });
  }
  const text = name === undefined ? `the transform threw ${message}` : message === '' ? name : `${name}: ${message}`;
  return new ServiceError('transform_failed', place ? `${text} (line ${place.line})` : text, { cause });
}

function toResponse(
  failure: GuestFailure & { kind: 'response' },
  limits: TransformLimits,
): ServiceError | CustomHttpResponse {
  const { headersJson, bodyJson, written } = failure;
  const texts = [headersJson, bodyJson ?? '', written?.body ?? ''];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > limits.outputBytes) return stopped('outputBytes', limits);
  return new CustomHttpResponse(failure);
}
