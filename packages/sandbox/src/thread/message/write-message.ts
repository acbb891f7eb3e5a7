import { type Charset, charsetNamed, simpleCharsets } from '../../charset/charset.ts';
import { charsetOf, startBytes } from '../../charset/charset-of.ts';
import { beyondCharset, jsonToForm } from './form.ts';
import { jsonToHeaders } from './header-lines.ts';
import { type DecodedMessage, UnusableResult, type WrittenMessage, withoutPool } from './transform-message.ts';

interface ResultJson {
  bodyJson: string | undefined;
  headersJson: string | undefined;
}

/** The content type decides form and charset of the body; a string stays unchanged. @throws {UnusableResult} */
export function writeMessage({ bodyJson, headersJson }: ResultJson, message: DecodedMessage): WrittenMessage {
  const headers = headersJson === undefined ? undefined : jsonToHeaders(headersJson, message.limits);
  // An empty body stays empty, although the transform sees `{}`.
  const keepsBody = bodyJson === undefined || (message.text === '' && bodyJson === '{}');
  if (keepsBody) return { headers, body: bodyJson === undefined ? undefined : noBytes, lacksContentType: false };
  const contentType = headers ? headerOf(headers, 'content-type') : message.contentType;
  const isString = bodyJson.startsWith('"') && !(isJsonString(message) && isJson(contentType));
  const body =
    isForm(contentType) && !isString
      ? formOf(bodyJson, contentType, message)
      : textOf(isString ? String(JSON.parse(bodyJson)) : bodyJson, contentType, { message, isString });
  return { headers, body, lacksContentType: contentType === undefined && !isString };
}

const byteOrderMark = '\ufeff';
const noBytes = new Uint8Array();

function textOf(
  text: string,
  contentType: string | undefined,
  { message, isString }: { message: DecodedMessage; isString: boolean },
): Uint8Array {
  const charset = charsetOfResult(text, contentType, message);
  return encoded(charset.isUnmarked && !isString ? byteOrderMark + text : text, charset);
}

function formOf(bodyJson: string, contentType: string | undefined, message: DecodedMessage): Uint8Array {
  const charset = charsetOfResult('', contentType, message);
  // The escapes of a form mean bytes, so UTF-16 would be ambiguous
  if (charset.name.startsWith('utf-16')) throw unwritableCharset();
  return encoded(jsonToForm(bodyJson, { mostPairs: message.limits.formPairs, charset }), charset);
}

/**
 * As long as the content type stays and readers would find it in the result, the charset of the original, otherwise the
 * one that they would find. @throws {UnusableResult}
 */
function charsetOfResult(text: string, contentType: string | undefined, message: DecodedMessage): Charset {
  const former = charsetNamed(message.charset ?? 'utf-8');
  const start = text.slice(0, startBytes).toWellFormed();
  const kept = contentType === message.contentType ? former.encode(start) : undefined;
  const same = kept && charsetOf(contentType, kept, simpleCharsets);
  if (same?.name === former.name) return same;
  const unmarked = start.startsWith(byteOrderMark) ? start.slice(1) : start;
  const found = charsetOf(contentType, Buffer.from(unmarked), simpleCharsets);
  if (!found) throw unwritableCharset();
  // In the byte order in which it was read, because the label does not say one
  return found.isUnmarked && former.name === 'utf-16be' ? { ...former, isUnmarked: true } : found;
}

function encoded(text: string, charset: Charset): Uint8Array {
  const bytes = charset.encode(text);
  if (!bytes) throw beyondCharset(charset);
  return withoutPool(bytes);
}

function unwritableCharset(): UnusableResult {
  const what = 'a body in a charset that cannot be written';
  return new UnusableResult(`The transform returned ${what}`, what);
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

/** Then a returned string is written as JSON again, so that a response such as `"OK"` stays the same. */
function isJsonString({ kind, text }: DecodedMessage): boolean {
  return (kind === 'json' || kind === 'none') && /^\s*"/.test(text);
}

/** Without a content type a body is JSON if it parses. */
function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^\s*[^\s;]*(\/|\+|-)json(-[\d.]+)?(?=[\s;]|$)/i.test(contentType);
}

function isForm(contentType: string | undefined): boolean {
  return /^\s*application\/x-www-form-urlencoded(?=[\s;]|$)/i.test(contentType ?? '');
}
