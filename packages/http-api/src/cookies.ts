import type { IncomingMessage } from 'node:http';

/** RFC 6265, section 4.2. All of this name, because a sibling host may have set another one of the same name. */
export function cookiesNamed({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
