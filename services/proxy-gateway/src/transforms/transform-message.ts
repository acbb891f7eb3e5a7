import { ServiceError } from '@sluice/problems';
import { type MessageLimits, type TransformMessage, UnreadableBody, type WrittenMessage } from '@sluice/sandbox';
import type { ContentKind } from '../http/content-type.ts';
import { findHeader, withoutHeaders } from '../http/header-list.ts';
import type { Message } from '../http/message.ts';

const ofFraming = ['content-length', 'content-encoding'];
const ofDigests = ['content-md5', 'digest'];

const kinds = { json: 'json', none: 'none', form: 'form', xml: 'text', text: 'text' } as const;

/** Undefined where transforms do not see the body: binary, or several parts. */
export function toTransformMessage(
  { headers, body }: Message,
  kind: ContentKind,
  limits: MessageLimits,
): TransformMessage | undefined {
  const contentType = findHeader(headers, 'content-type');
  if (body.length === 0) return { text: '', kind: 'none', contentType, limits };
  if (kind === 'opaque' || kind === 'multipart') return undefined;
  return { text: body.toString(), kind: kinds[kind], contentType, limits };
}

/** Parts that the transform did not return stay; a new body has no coding, and its length is computed. */
export function applyWritten({ headers, body, lacksContentType }: WrittenMessage, message: Message): Message {
  if (body === undefined) {
    return { headers: headers ? withoutHeaders(headers, ...ofFraming) : message.headers, body: message.body };
  }
  const resulting = withoutHeaders(headers ?? message.headers, ...ofFraming, ...ofDigests);
  if (lacksContentType) resulting.push('Content-Type', 'application/json');
  return { headers: resulting, body: Buffer.from(body) };
}

interface Unreadable {
  detail: string;
  limit?: string;
}

export function unreadableIn(error: unknown, { limits }: TransformMessage): Unreadable | undefined {
  if (!(error instanceof UnreadableBody)) return undefined;
  if (error.reason === 'not_json') return { detail: 'The body is not valid JSON' };
  return { detail: `The form has more than ${limits.formPairs} pairs`, limit: 'form_pairs' };
}

/** A body without a content type that is not JSON bypasses its transform. */
export function passesBy(error: unknown, message: TransformMessage): boolean {
  return error instanceof UnreadableBody && message.kind === 'none' && error.reason === 'not_json';
}

export function writtenOf(written: WrittenMessage | undefined): WrittenMessage {
  if (written) return written;
  throw new ServiceError('internal', 'The sandbox answered no message');
}
