import { coversHost, type TokenUse, type UseMember } from './token-use.ts';

const equals = (one: string, other: string) => one === other;

/** The first member in which `to` allows a use that `from` does not. Null allows all. */
export function widerMember(from: TokenUse | null, to: TokenUse | null): UseMember | undefined {
  if (!from) return undefined;
  const wanted = to ?? {};
  if (!isWithin(from.proxies, wanted.proxies, equals)) return 'proxies';
  if (!isWithin(from.destinations, wanted.destinations, coversHost)) return 'destinations';
  if (!isWithin(from.methods, wanted.methods, equals)) return 'methods';
  if (!isWithin(from.places, wanted.places, equals)) return 'places';
  if ((from.max_uses ?? Infinity) < (wanted.max_uses ?? Infinity)) return 'max_uses';
  return endOf(from) < endOf(wanted) ? 'until' : undefined;
}

/** Whether each entry of `to` is covered by one of `from`. Undefined covers all. */
function isWithin(
  from: readonly string[] | undefined,
  to: readonly string[] | undefined,
  covers: (from: string, to: string) => boolean,
): boolean {
  return !from || (to?.every((entry) => from.some((covering) => covers(covering, entry))) ?? false);
}

function endOf({ until }: TokenUse): number {
  return until === undefined ? Infinity : Date.parse(until);
}
