import { type Charset, charsetNamed, charsetOf } from '../../charset.ts';
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
  const charset = charsetOfResult(contentType, message);
  const text = isString
    ? String(JSON.parse(bodyJson))
    : isForm(contentType)
      ? jsonToForm(bodyJson, { mostPairs: message.limits.formPairs, charset })
      : `${charset.isUnmarked ? byteOrderMark : ''}${bodyJson}`;
  return { headers, body: encoded(text, charset), lacksContentType: contentType === undefined && !isString };
}

const byteOrderMark = '\ufeff';
const noBytes = new Uint8Array();

/** UTF-16 is written in the byte order in which it was read, if the label does not say one. */
function charsetOfResult(contentType: string | undefined, message: DecodedMessage): Charset {
  const charset = charsetOf(contentType);
  // The escapes of a form mean bytes, so UTF-16 would be ambiguous
  if (!charset || (isForm(contentType) && charset.name.startsWith('utf-16'))) {
    const what = 'a body in a charset that cannot be written';
    throw new UnusableResult(`The transform returned ${what}`, what);
  }
  if (!charset.isUnmarked || message.charset !== 'utf-16be') return charset;
  return { ...charsetNamed(message.charset), isUnmarked: true };
}

function encoded(text: string, charset: Charset): Uint8Array {
  const bytes = charset.encode(text);
  if (!bytes) throw beyondCharset(charset);
  return withoutPool(bytes);
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
