import { ServiceError } from '@sluice/problems';
import { type MessageLimits, type TransformMessage, UnreadableBody, type WrittenMessage } from '@sluice/sandbox';
import type { ContentKind } from '../http/content-type.ts';
import { findHeader, withoutHeaders } from '../http/header-list.ts';
import type { Message } from '../http/message.ts';
import { type MessageKind, withoutFormerValidators } from '../http/validators.ts';

const ofFraming = ['content-length', 'content-encoding'];

const kinds = {
  json: 'json',
  none: 'none',
  form: 'form',
  'json-lines': 'text',
  xml: 'text',
  html: 'text',
  csv: 'text',
  text: 'text',
} as const;

/** Undefined if transforms do not see the body: binary, or several parts. */
export function toTransformMessage(
  { headers, body }: Message,
  kind: ContentKind,
  limits: MessageLimits,
): TransformMessage | undefined {
  const contentType = findHeader(headers, 'content-type');
  if (body.length === 0) return { body, kind: 'none', contentType, limits };
  if (kind === 'opaque' || kind === 'multipart') return undefined;
  return { body, kind: kinds[kind], contentType, limits };
}

interface Original extends Message {
  message: MessageKind;
  /** The headers as received, and whether the body has changed since. */
  came: readonly string[];
  isBodyNew: boolean;
}

/** Parts that the transform did not return stay. A new body has no coding, and its length is computed. */
export function applyWritten(
  { headers, body, lacksContentType }: WrittenMessage,
  { message, headers: ownHeaders, body: ownBody, came, isBodyNew }: Original,
): Message {
  const framed = headers ? withoutHeaders(headers, ...ofFraming) : ownHeaders;
  if (body === undefined && !isBodyNew) return { headers: framed, body: ownBody };
  const resulting = withoutFormerValidators(withoutHeaders(framed, ...ofFraming), came, message);
  if (body === undefined) return { headers: resulting, body: ownBody };
  if (lacksContentType) resulting.push('Content-Type', 'application/json');
  return { headers: resulting, body: bytesOf(body) };
}

export function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

interface Unreadable {
  code: 'bad_request' | 'unsupported_media_type';
  detail: string;
  limit?: string;
}

export function unreadableIn(error: unknown, { formPairs }: MessageLimits): Unreadable | undefined {
  if (!(error instanceof UnreadableBody)) return undefined;
  switch (error.reason) {
    case 'not_json':
      return { code: 'bad_request', detail: 'The body is not valid JSON' };
    case 'charset':
      return { code: 'unsupported_media_type', detail: charsetFault };
    default:
      return { code: 'bad_request', detail: `The form has more than ${formPairs} fields`, limit: 'form_pairs' };
  }
}

const charsetFault =
  'The body is not valid text in its charset (default UTF-8), or its Content-Type names a charset ' +
  'that transforms do not support; use UTF-8, UTF-16 or a single-byte charset';

/** A body without a content type that is not JSON skips its transform. */
export function passesBy(error: unknown, kind: ContentKind): boolean {
  return error instanceof UnreadableBody && kind === 'none' && error.reason === 'not_json';
}

export function writtenOf(written: WrittenMessage | undefined): WrittenMessage {
  if (written) return written;
  throw new ServiceError('internal', 'The sandbox returned no message');
}
