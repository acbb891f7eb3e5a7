import type { IncomingHttpHeaders } from 'node:http';
import { inPairs, withoutHeaders } from './header-list.ts';
import type { HeaderList } from './message.ts';

/** What tells one body from another, and whether parts of it may be asked for. */
const ofOneBody: readonly string[] = [
  ...['etag', 'last-modified', 'content-md5', 'digest', 'content-digest', 'repr-digest', 'accept-ranges'],
];

/** For a request whose body is another than the one that came, which `parsed` are the headers of. */
export function withoutValidators(headers: HeaderList, parsed: IncomingHttpHeaders): HeaderList {
  return ofOneBody.some((name) => parsed[name] !== undefined) ? withoutHeaders(headers, ...ofOneBody) : headers;
}

/**
 * For a body that is another than the one that `former` came with. A client that kept its `ETag` would later be told by
 * the destination that it has the right body.
 */
export function withoutFormerValidators(headers: readonly string[], former: readonly string[]): HeaderList {
  const left: HeaderList = [];
  for (const [name, value] of inPairs(headers)) {
    const lower = name.toLowerCase();
    if (!ofOneBody.includes(lower) || !valuesOf(former, lower).includes(value)) left.push(name, value);
  }
  return left;
}

/** Each line, and all of them as transforms see them. The name is in lower case. */
function valuesOf(headers: readonly string[], name: string): string[] {
  const lines = inPairs(headers).flatMap(([sent, value]) => (sent.toLowerCase() === name ? [value] : []));
  return [...lines, lines.join(', ')];
}
