// The programs of browser tests import this file, but not all types of the folder
/// <reference path="./html-encoding-sniffer.d.ts" />
import { getBOMEncoding, normalizeEncoding } from '@exodus/bytes/encoding-lite.js';
import sniff from 'html-encoding-sniffer';
import { type Charset, charsetNamed, readableCharsets } from './charset.ts';

/** A document declares its charset within its first bytes (WHATWG HTML, 13.2.3.2), so no more are read. */
export const startBytes = 1024;

const xmlType = /^[^;\s]*[/+]xml\s*(?:[;\s]|$)/i;
const htmlType = /^text\/html\s*(?:[;\s]|$)/i;

/**
 * The charset of a body: by its byte order mark, otherwise by its `Content-Type`, otherwise by the declaration of an XML
 * or HTML document, otherwise UTF-8. A body without a type is JSON in UTF-8 or no text. A declaration counts only if
 * it names one of `names`.
 * @returns undefined if the type names several charsets, or one that is not in `names`.
 */
export function charsetOf(
  contentType: string | undefined,
  body: Uint8Array,
  names: ReadonlySet<string> = readableCharsets,
): Charset | undefined {
  const type = contentType?.trim() ?? '';
  if (type === '') return charsetNamed('utf-8');
  const label = labelIn(type);
  const mark = mayBeMarked(body) ? getBOMEncoding(body.subarray(0, 3)) : null;
  if (label === '') return charsetNamed(mark ?? declaredIn(body, type, names));
  const named = label === undefined ? null : normalizeEncoding(label);
  const isUnmarked = named === 'utf-16le' && label !== named;
  const name = mark ?? (isUnmarked && isBigEndian(body) ? 'utf-16be' : named);
  if (name === null || !names.has(name)) return undefined;
  return isUnmarked && name !== 'utf-8' ? { ...charsetNamed(name), isUnmarked } : charsetNamed(name);
}

/** Most bodies have no mark, and this is asked of each. */
const mayBeMarked = ([first]: Uint8Array) => first === 0xef || first === 0xfe || first === 0xff;

const parameter = /[;\s]charset\s*=\s*["']?([^"';\s]*)/gi;

/** Empty if there is none. Undefined if there are several, because readers would choose different ones. */
function labelIn(contentType: string): string | undefined {
  if (!/charset/i.test(contentType)) return '';
  const labels = new Set(Array.from(contentType.matchAll(parameter), ([, label = '']) => label.toLowerCase()));
  const [first = ''] = labels;
  return labels.size > 1 ? undefined : first;
}

function declaredIn(body: Uint8Array, type: string, names: ReadonlySet<string>): string {
  const isXml = xmlType.test(type);
  if (!isXml && !htmlType.test(type)) return 'utf-8';
  const options = { xml: isXml, defaultEncoding: 'UTF-8' };
  const name = sniff(body.subarray(0, startBytes), options).toLowerCase();
  return names.has(name) ? name : 'utf-8';
}

/** Without a byte order mark the first character decides, which is ASCII in XML, JSON and most text. */
function isBigEndian([first, second]: Uint8Array): boolean {
  return first === 0 && second !== undefined && second !== 0;
}
