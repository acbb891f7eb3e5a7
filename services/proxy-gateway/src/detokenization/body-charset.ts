import { ServiceError } from '@sluice/problems';
import { type Charset, charsetNamed, charsetOf, isMultiByte } from '@sluice/sandbox';
import type { ContentKind } from '../http/content-type.ts';
import { findHeader } from '../http/header-list.ts';
import type { HeaderList } from '../http/message.ts';
import type { Asked } from './asked.ts';

/** Undefined if the type names one that is unknown. A form of several parts starts with text of no part. */
export function bodyCharset(kind: ContentKind, headers: HeaderList, start: Buffer): Charset | undefined {
  return charsetOf(findHeader(headers, 'content-type'), kind === 'multipart' ? Buffer.alloc(0) : start);
}

export const isUtf16 = (charset: Charset | undefined): charset is Charset =>
  charset?.name.startsWith('utf-16') === true;

/** Bodies in UTF-16 are read as UTF-8. */
export const asRead = (charset: Charset | undefined) => (isUtf16(charset) ? charsetNamed('utf-8') : charset);

/**
 * In a charset of several bytes a character may end with a backslash, so strings of JSON cannot be told apart. As such a
 * body is refused anyway if it holds an expression, it is enough to look for one.
 */
export function kindIn(charset: Charset | undefined, kind: ContentKind): ContentKind {
  return charset && isMultiByte(charset) && (kind === 'json' || kind === 'json-lines') ? 'text' : kind;
}

export function isFillable(kind: ContentKind, charset: Charset | undefined): boolean {
  return charset !== undefined && (!isMultiByte(charset) || kind === 'xml' || kind === 'html');
}

export function withCharsetFault(asked: Asked, kind: ContentKind, charset: Charset | undefined): Asked {
  const fault = asked.fault ?? charsetFault(kind, charset);
  return fault === asked.fault ? asked : { ...asked, fault };
}

/** In another charset a value could end its string early, or become other characters. */
export function charsetFault(kind: ContentKind, charset: Charset | undefined): ServiceError | undefined {
  if (isFillable(kind, charset)) return undefined;
  const detail =
    'Expressions are not replaced in the charset of this body. Use UTF-8, UTF-16 or a single-byte charset. In XML and HTML ' +
    'the multi-byte charsets of the WHATWG Encoding Standard are also supported, except ISO-2022-JP';
  return new ServiceError('unsupported_media_type', detail);
}

export function notUtf16(): ServiceError {
  return new ServiceError(
    'unsupported_media_type',
    'The charset of the body is UTF-16, but the body is not valid text in UTF-16',
  );
}
