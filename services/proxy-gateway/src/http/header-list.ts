import type { HeaderList } from './message.ts';

/**
 * If these are repeated the first counts, as in node:http (`matchKnownFields`), because a list of them has no meaning.
 */
const once = new Set([
  ...['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host', 'if-modified-since'],
  ...[
    'if-unmodified-since',
    'last-modified',
    'location',
    'max-forwards',
    'proxy-authorization',
    'referer',
    'retry-after',
  ],
  ...['server', 'user-agent'],
]);

export type HeaderObject = Record<string, string | string[]>;

/** Headers as transforms see them: lower-case names, repeated lines joined, `set-cookie` as a list. */
export function toHeaderObject(headers: readonly string[], hidden: ReadonlySet<string>): HeaderObject {
  const object = new Map<string, string | string[]>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? '';
    const value = headers[i + 1] ?? '';
    if (hidden.has(name)) continue;
    const before = object.get(name);
    if (Array.isArray(before)) before.push(value);
    else if (name === 'set-cookie') object.set(name, [value]);
    else if (before === undefined) object.set(name, value);
    else if (!once.has(name)) object.set(name, `${before}${name === 'cookie' ? ';' : ','} ${value}`);
  }
  return Object.fromEntries(object);
}

export function inPairs(headers: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: headers.length >> 1 }, (_, i) => [headers[2 * i] ?? '', headers[2 * i + 1] ?? '']);
}

/** Returns the first of several; `name` is in lower case. */
export function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (isSameName(headers[i] ?? '', name)) return headers[i + 1];
  }
  return undefined;
}

/** `set` takes the place of all others of its names. */
export function replaceHeaders(headers: HeaderList, set: HeaderList): HeaderList {
  const names = set.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  return [...withoutHeaders(headers, ...names), ...set];
}

/** `name` is in lower case. */
export function isSameName(sent: string, name: string): boolean {
  return sent.length === name.length && sent.toLowerCase() === name;
}

/** Names are in lower case. */
export function withoutHeaders(headers: readonly string[], ...names: readonly string[]): HeaderList {
  const left: HeaderList = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (!names.includes(name.toLowerCase())) left.push(name, headers[i + 1] ?? '');
  }
  return left;
}
