import { validateHeaderName, validateHeaderValue } from 'node:http';
import { ServiceError } from '@sluice/problems';
import type { HeaderList } from '../invocation/message.ts';

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
  const lines = new Map<string, HeaderList>();
  for (const [name, value] of Object.entries(returned)) {
    const values = Array.isArray(value) ? value : [value];
    lines.delete(name.toLowerCase());
    if (value !== null)
      lines.set(
        name.toLowerCase(),
        values.flatMap((item) => [name, headerValue(name, item)]),
      );
  }
  return [...lines.values()].flat();
}

function headerValue(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    // The log gets the cause, which has nothing of the Tenant's.
    const cause = new TypeError('a header that is not text');
    throw new ServiceError(
      'transform_failed',
      `The transform returned a header ${JSON.stringify(name)} that is not text`,
      {
        cause,
      },
    );
  }
  try {
    validateHeaderName(name);
    validateHeaderValue(name, `${value}`);
  } catch {
    const detail = `The transform returned a header ${JSON.stringify(name)} that cannot be sent`;
    throw new ServiceError('transform_failed', detail, { cause: new TypeError('a header that cannot be sent') });
  }
  return `${value}`;
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
    const [name = '', value = ''] = headers.slice(i, i + 2);
    if (!names.includes(name.toLowerCase())) left.push(name, value);
  }
  return left;
}
