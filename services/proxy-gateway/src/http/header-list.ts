import { ServiceError } from '@sluice/problems';
import type { HeaderList } from './message.ts';

/** RFC 9110 sections 5.6.2 and 5.5; a value may be more than ASCII, and nothing that a byte cannot be. */
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const notOfValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers as transforms see them: lower-case names, several lines joined, `set-cookie` as a list. */
export function toHeaderObject(
  headers: readonly string[],
  hidden: ReadonlySet<string>,
): Record<string, string | string[]> {
  const object = new Map<string, string | string[]>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? '';
    const value = headers[i + 1] ?? '';
    if (hidden.has(name)) continue;
    const before = object.get(name);
    if (name === 'set-cookie') object.set(name, [...(before ?? []), value]);
    else object.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(object);
}

/**
 * The headers that a transform returned: names are case-insensitive and the last wins, null removes, lists make several
 * lines, numbers and booleans become text.
 * @throws {ServiceError} `transform_failed` for anything that cannot stand in a header.
 */
export function fromHeaderObject(json: string): HeaderList {
  const returned: unknown = JSON.parse(json);
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned)) {
    throw new ServiceError('transform_failed', 'The transform returned headers that are not an object');
  }
  const values = returned as Record<string, unknown>;
  const lastOf = new Map<string, string>();
  for (const name of Object.keys(values)) {
    const lower = name.toLowerCase();
    lastOf.delete(lower);
    lastOf.set(lower, name);
  }
  const headers: HeaderList = [];
  for (const name of lastOf.values()) {
    const value = values[name];
    if (Array.isArray(value)) for (const item of value) headers.push(name, headerValue(name, item));
    else if (value !== null) headers.push(name, headerValue(name, value));
  }
  return headers;
}

function headerValue(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw unusable(name, 'is not text');
  }
  const text = `${value}`;
  if (!fieldName.test(name) || notOfValue.test(text)) throw unusable(name, 'cannot be sent');
  return text;
}

/** The log gets the cause, which has nothing of the Tenant's. */
function unusable(name: string, why: string): ServiceError {
  const detail = `The transform returned a header ${JSON.stringify(name)} that ${why}`;
  return new ServiceError('transform_failed', detail, { cause: new TypeError(`a header that ${why}`) });
}

/** The value of the first header with this lower-case name. */
export function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return headers[i + 1];
  return undefined;
}

/** The list without the headers of these lower-case names. */
export function withoutHeaders(headers: readonly string[], ...names: readonly string[]): HeaderList {
  const left: HeaderList = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (!names.includes(name.toLowerCase())) left.push(name, headers[i + 1] ?? '');
  }
  return left;
}
