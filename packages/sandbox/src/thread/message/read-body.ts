import { isUtf8 } from 'node:buffer';
import { charsetNamed, simpleCharsets } from '../../charset/charset.ts';
import { charsetOf } from '../../charset/charset-of.ts';
import { formToJson } from './form.ts';
import type { DecodedMessage, TransformMessage, UnreadableReason } from './transform-message.ts';

interface Unreadable {
  unreadable: UnreadableReason;
}

/**
 * Returns JSON text: JSON unchanged, because QuickJS reads it; a form as an object, other text as a string, no body as
 * `{}`.
 */
export function readBody({
  body,
  ...message
}: TransformMessage): { json: string; decoded: DecodedMessage } | Unreadable {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = decode(bytes, message);
  if ('unreadable' in text) return text;
  const decoded = { ...message, ...text };
  const read = readText(decoded);
  return 'unreadable' in read ? read : { ...read, decoded };
}

const byteOrderMark = '\ufeff';

/** A byte order mark stays in text, so that text which a transform returns unchanged is sent unchanged. */
function decode(
  body: Buffer,
  { kind, contentType }: Omit<TransformMessage, 'body'>,
): Pick<DecodedMessage, 'text' | 'charset'> | Unreadable {
  if (body.length === 0) return { text: '' };
  const charset = charsetOf(contentType, body, simpleCharsets);
  if (charset?.name === 'utf-8' && isUtf8(body)) {
    const isMarked = body[0] === 0xef && (kind === 'json' || kind === 'none') && body[1] === 0xbb && body[2] === 0xbf;
    return { text: body.toString('utf8', isMarked ? 3 : 0) };
  }
  if (kind === 'none') return { unreadable: 'not_json' };
  if (kind === 'form' && charset && !charset.name.startsWith('utf-')) {
    return { text: body.toString('latin1'), charset: charset.name };
  }
  const text = kind === 'form' ? undefined : charset?.decode(body);
  if (!charset || text === undefined) return { unreadable: 'charset' };
  const isMarked = kind === 'json' && text.startsWith(byteOrderMark);
  return { text: isMarked ? text.slice(1) : text, charset: charset.name };
}

function readText({ text, kind, charset = 'utf-8', limits }: DecodedMessage): { json: string } | Unreadable {
  if (text === '') return { json: '{}' };
  if (kind === 'text') return { json: JSON.stringify(text) };
  if (kind === 'form') {
    return formToJson(text, { mostPairs: limits.formPairs, charset: charsetNamed(charset) });
  }
  // A text passed to QuickJS ends at its first NUL, so the rest would be invisible to the code
  return text.includes('\0') ? { unreadable: 'not_json' } : { json: text };
}
