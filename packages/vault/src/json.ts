/** A value that came from JSON text. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

export type JsonObject = { [member: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One text for equal values: members in code unit order, no spaces (after RFC 8785). */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** The same structure with other strings and numbers in it. A member for which `replace` gives undefined is left out. */
export function mapLeaves(value: Json, replace: (leaf: Json) => Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, replace) ?? null);
  if (!isObject(value)) return replace(value);
  // fromEntries defines members, so that one called __proto__ stays a member.
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const mapped = mapLeaves(member, replace);
      return mapped === undefined ? [] : [[name, mapped]];
    }),
  );
}

/** Where the first leaf of this value stands, in the order of {@link mapLeaves}; undefined where it does not. */
export function findLeaf(value: Json, leaf: Json): (string | number)[] | undefined {
  if (typeof value !== 'object' || value === null) return value === leaf ? [] : undefined;
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const path = findLeaf(member, leaf);
    if (path) return [key, ...path];
  }
  return undefined;
}

/** Whether arrays and objects are within each other deeper than this. It recurses no deeper, however deep they are. */
export function isNestedDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (limit === 0) return items.length > 0;
  for (const item of items) if (isNestedDeeperThan(limit - 1, item)) return true;
  return false;
}

/**
 * Whether every number came through JSON.parse unchanged: it makes Infinity of 1e400 and another integer of most beyond
 * 2^53, of card numbers with 17 digits for example. Does not recurse.
 */
export function hasExactNumbers(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const item = left.pop();
    if (typeof item === 'number' && !isExact(item)) return false;
    if (typeof item !== 'object' || item === null) continue;
    for (const member of Array.isArray(item) ? item : Object.values(item)) left.push(member);
  }
  return true;
}

function isExact(number: number): boolean {
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
}

/** Whether Postgres can store it as text or jsonb: no NUL characters and no lone surrogates, names included. */
export function isStorable(value: Json): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (Array.isArray(value)) return value.every(isStorable);
  return !isObject(value) || Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
