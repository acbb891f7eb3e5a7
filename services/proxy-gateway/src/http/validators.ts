import type { IncomingHttpHeaders } from 'node:http';
import { inPairs, withoutHeaders } from './header-list.ts';
import type { HeaderList } from './message.ts';

/** Headers that identify a body, or say whether parts of it can be requested. */
const ofOneBody: readonly string[] = [
  ...['etag', 'last-modified', 'content-md5', 'digest', 'content-digest', 'repr-digest', 'accept-ranges'],
];
/** In a request `Content-Range` says where its body belongs, which stays true. */
const formerOf = { request: ofOneBody, answer: [...ofOneBody, 'content-range'] };
export type MessageKind = keyof typeof formerOf;

/** For a request whose body has changed. `parsed` are its received headers. */
export function withoutValidators(headers: HeaderList, parsed: IncomingHttpHeaders): HeaderList {
  return ofOneBody.some((name) => parsed[name] !== undefined) ? withoutHeaders(headers, ...ofOneBody) : headers;
}

/**
 * For a message whose body differs from the one that came with `former`. A client that stored its `ETag` would later
 * be told by the destination that it has the right body.
 */
export function withoutFormerValidators(
  headers: readonly string[],
  former: readonly string[],
  kind: MessageKind,
): HeaderList {
  const left: HeaderList = [];
  for (const [name, value] of inPairs(headers)) {
    const lower = name.toLowerCase();
    if (!formerOf[kind].includes(lower) || !valuesOf(former, lower).includes(value)) left.push(name, value);
  }
  return left;
}

/** Each line, and all of them as transforms see them. The name is in lower case. */
function valuesOf(headers: readonly string[], name: string): string[] {
  const lines = inPairs(headers).flatMap(([sent, value]) => (sent.toLowerCase() === name ? [value] : []));
  return [...lines, lines.join(', ')];
}
