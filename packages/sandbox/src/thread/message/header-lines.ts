import { type MessageLimits, UnusableResult } from './transform-message.ts';

/** RFC 9110 sections 5.6.2 and 5.5. A value may have characters beyond ASCII, up to U+00FF. */
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const notOfValue = /[^\t\x20-\x7e\x80-\xff]/;
const bytesAround = ': \r\n'.length;

/** The last of equal names counts, null removes, lists make several lines. @throws {UnusableResult} */
export function jsonToHeaders(json: string, limits: Omit<MessageLimits, 'formPairs'>): string[] {
  const returned: unknown = JSON.parse(json);
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned)) {
    throw unusable('headers that are not an object');
  }
  const values = returned as Record<string, unknown>;
  const lastOf = new Map<string, string>();
  for (const name of Object.keys(values)) {
    const lower = name.toLowerCase();
    lastOf.delete(lower);
    lastOf.set(lower, name);
  }
  const headers: string[] = [];
  let bytes = 0;
  const add = (name: string, value: unknown) => {
    if (headers.length === 2 * limits.headerLines) throw tooMany(`more than ${limits.headerLines} lines of headers`);
    const text = headerValue(name, value);
    bytes += name.length + text.length + bytesAround;
    if (bytes > limits.headerBytes) throw tooMany(`headers of more than ${limits.headerBytes} bytes`);
    headers.push(name, text);
  };
  for (const name of lastOf.values()) {
    const value = values[name];
    if (Array.isArray(value)) for (const item of value) add(name, item);
    else if (value !== null) add(name, value);
  }
  return headers;
}

function headerValue(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw unusableHeader(name, 'is not text');
  }
  const text = `${value}`;
  if (!fieldName.test(name) || notOfValue.test(text)) throw unusableHeader(name, 'cannot be sent');
  return text;
}

const longestName = 200;

function unusableHeader(name: string, why: string): UnusableResult {
  const shown = JSON.stringify(name.slice(0, longestName));
  return new UnusableResult(`The transform returned a header ${shown} that ${why}`, `a header that ${why}`);
}

const unusable = (what: string) => new UnusableResult(`The transform returned ${what}`, what);
const tooMany = (what: string) => new UnusableResult(`The transform returned ${what}`, what, 'headers');
