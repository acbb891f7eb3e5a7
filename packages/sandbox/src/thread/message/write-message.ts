import { jsonToForm } from './form.ts';
import { jsonToHeaders } from './header-lines.ts';
import type { TransformMessage, WrittenMessage } from './transform-message.ts';

interface ResultJson {
  bodyJson: string | undefined;
  headersJson: string | undefined;
}

/** The content type decides the form of the body; a string stays as it is. @throws {UnusableResult} */
export function writeMessage({ bodyJson, headersJson }: ResultJson, message: TransformMessage): WrittenMessage {
  const headers = headersJson === undefined ? undefined : jsonToHeaders(headersJson, message.limits);
  // An empty body stays empty, although the transform sees `{}`.
  const keepsBody = bodyJson === undefined || (message.text === '' && bodyJson === '{}');
  if (keepsBody) return { headers, body: bodyJson === undefined ? undefined : '', lacksContentType: false };
  const contentType = headers ? headerOf(headers, 'content-type') : message.contentType;
  const isString = bodyJson.startsWith('"');
  const body = isString
    ? String(JSON.parse(bodyJson))
    : isForm(contentType)
      ? jsonToForm(bodyJson, message.limits.formPairs)
      : bodyJson;
  return { headers, body, lacksContentType: contentType === undefined && !isString };
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

function isForm(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}
