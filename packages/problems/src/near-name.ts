/** Letters by which a misspelt name may differ; shorter names would be near to too many. */
function mostApart(name: string): number {
  return name.length >= 8 ? 2 : name.length >= 5 ? 1 : -1;
}

/** The candidate that was probably meant, whatever the case of the letters. */
export function nearName(name: string, candidates: Iterable<string>): string | undefined {
  const lower = name.toLowerCase();
  for (const candidate of candidates) {
    const most = mostApart(candidate);
    if (most >= 0 && isWithin(most, lower, candidate.toLowerCase())) return candidate;
  }
  return undefined;
}

/**
 * Inserted, missing, other and exchanged neighbouring letters each count one (optimal string alignment). Equal letters are
 * skipped, because a body may have many names.
 */
function isWithin(most: number, a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > most) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const [left, right] = [a.slice(at), b.slice(at)];
  if (left === right || most === 0) return left === right;
  const isExchanged = left[0] === right[1] && left[1] === right[0];
  return (
    isWithin(most - 1, left.slice(1), right.slice(1)) ||
    isWithin(most - 1, left.slice(1), right) ||
    isWithin(most - 1, left, right.slice(1)) ||
    (isExchanged && isWithin(most - 1, left.slice(2), right.slice(2)))
  );
}

/** Unknown names of a body that are looked at. No client sends more, and looking at all would take too long. */
interface NameBudget {
  left: number;
}

export function nameBudget(): NameBudget {
  return { left: 1000 };
}

export interface KnownMembers {
  /** May be sent. */
  writable: readonly string[];
  /** Are ignored, so that what was read can be sent back. */
  readOnly: readonly string[];
}

/**
 * Unknown members are ignored, but not one that probably means a known one that is missing: without its
 * `request_transform` a Proxy would pass on what it was to hide. @returns a message by the unknown member.
 */
export function nearMisses(
  value: object,
  { writable, readOnly }: KnownMembers,
  budget = nameBudget(),
): Record<string, string[]> {
  const known = new Set([...writable, ...readOnly]);
  const unknown = Object.keys(value).filter((name) => !known.has(name));
  if (unknown.length === 0) return {};
  const missing = writable.filter((name) => !Object.hasOwn(value, name));
  const faults: Record<string, string[]> = Object.create(null);
  for (const name of unknown.slice(0, budget.left)) {
    const meant = nearName(name, missing);
    if (meant !== undefined) faults[name] = [`is not a known field; did you mean ${meant}?`];
  }
  budget.left -= Math.min(budget.left, unknown.length);
  return faults;
}
