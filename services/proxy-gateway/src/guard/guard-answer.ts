import { ServiceError } from '@sluice/problems';
import { codingsOf } from '../http/content-coding.ts';
import { replaceHeaders, withoutHeaders } from '../http/header-list.ts';
import { HeldBody } from '../http/held-body.ts';
import type { Answer, HeaderList, StreamedAnswer } from '../http/message.ts';
import { GuardedBody } from './guarded-body.ts';
import { GunzippedBody } from './gunzipped-body.ts';
import type { ResponseGuard } from './response-guard.ts';

/** They say something about the bytes of one body. */
const ofOneBody = ['etag', 'content-md5', 'digest', 'content-digest', 'repr-digest'];

/** A request whose answer is guarded. A part of a body may hold a part of a value, and a coding may hide it. */
export function withoutParts(headers: HeaderList): HeaderList {
  return replaceHeaders(withoutHeaders(headers, 'range', 'if-range'), ['Accept-Encoding', 'gzip, identity']);
}

/** @throws {ServiceError} 502 for a part, or for a body in another coding than gzip. */
function requireReadable({ status, headers }: Pick<Answer, 'status' | 'headers'>): void {
  if (status === 206) throw unreadable('is partial (206)');
  const codings = codingsOf(headers);
  const isReadable = codings.length === 0 || (codings.length === 1 && isGzip(codings[0]));
  if (!isReadable) throw unreadable('has a content coding other than gzip');
}

function isGzip(coding: string | undefined): boolean {
  return coding === 'gzip' || coding === 'x-gzip';
}

function unreadable(what: string): ServiceError {
  const detail = `The response of the destination ${what}, which the response_guard of the Proxy cannot read`;
  return new ServiceError('destination_answer_unusable', detail);
}

/** A response transform passes by what it cannot read, so what it leaves in memory may have a coding. */
export function guardAnswer(
  answer: Answer | StreamedAnswer,
  guard: ResponseGuard,
  isBodiless: boolean,
): Answer | StreamedAnswer {
  const { body } = answer;
  if (!Buffer.isBuffer(body)) return guardStreamed({ ...answer, body }, guard, isBodiless);
  if (isBodiless) return { ...guardHead(answer, guard), body };
  return guardStreamed({ ...answer, body: new HeldBody(body) }, guard, isBodiless);
}

/**
 * An answer as it comes. `isBodiless` for a HEAD request, or a status without a body. @throws {ServiceError} 502 as
 * {@link requireReadable}, {@link ValueReturned} if the guard blocks.
 */
export function guardStreamed(
  answer: StreamedAnswer,
  guard: ResponseGuard,
  isBodiless: boolean,
): Answer | StreamedAnswer {
  try {
    if (isBodiless) return guardHead(answer, guard);
    requireReadable(answer);
    return guardBodyOf(guardHead(withoutLength(answer), guard), guard, answer.headers);
  } catch (error) {
    answer.body.abort(error);
    throw error;
  }
}

/** @param received the headers before they were guarded. */
function guardBodyOf(head: StreamedAnswer, guard: ResponseGuard, received: HeaderList): Answer | StreamedAnswer {
  const { body } = head;
  if (codingsOf(received).length > 0) {
    const headers = withoutHeaders(head.headers, 'content-encoding', ...ofOneBody);
    return { ...head, headers, body: new GuardedBody(new GunzippedBody(body), guard) };
  }
  const whole = body.takeWhole();
  if (whole) return guardBody({ ...head, body: whole }, guard);
  return { ...head, headers: withoutHeaders(head.headers, ...ofOneBody), body: new GuardedBody(body, guard) };
}

/** An answer in memory, without a coding: from a transform, or an error. @throws {ValueReturned} if the guard blocks. */
export function guardCollected(answer: Answer, guard: ResponseGuard): Answer {
  return guardBody(guardHead(answer, guard), guard);
}

function guardBody(answer: Answer, guard: ResponseGuard): Answer {
  const body = guard.whole(answer.body);
  if (body.equals(answer.body)) return answer;
  return { ...answer, headers: withoutHeaders(answer.headers, ...ofOneBody), body };
}

/** It may have the digits of a value by chance, and whoever sends the body counts it anew. */
function withoutLength(answer: StreamedAnswer): StreamedAnswer {
  return { ...answer, headers: withoutHeaders(answer.headers, 'content-length') };
}

function guardHead<A extends Pick<Answer, 'status' | 'reason' | 'headers'>>(answer: A, guard: ResponseGuard): A {
  const { reason, headers } = answer;
  return { ...answer, reason: reason && guard.line(reason), headers: guard.lines(headers) };
}
