import { findHeader, inPairs } from './header-list.ts';
import type { HeaderList } from './message.ts';

const names = ['x-forwarded-for', 'x-real-ip', 'forwarded'];

/**
 * Removes headers with the caller's address as received, from the caller or a balancer in front of us, because
 * destinations must not learn it. A value that a transform has set stays.
 */
export function withoutCallerAddress(headers: HeaderList, came: readonly string[]): HeaderList {
  if (names.every((name) => findHeader(came, name) === undefined)) return headers;
  const known = new Map<string, string[]>();
  for (const [name, value] of inPairs(came)) {
    const lower = name.toLowerCase();
    if (names.includes(lower)) known.set(lower, [...(known.get(lower) ?? []), value]);
  }
  return inPairs(headers).flatMap(([name, value]) => {
    const values = known.get(name.toLowerCase());
    // Transforms see several lines as one
    const isAsItCame = values !== undefined && (values.includes(value) || values.join(', ') === value);
    return isAsItCame ? [] : [name, value];
  });
}
