export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

export type JsonObject = { [member: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same text for equal values: like RFC 8785, but also for lone surrogates, which data may contain. */
export function orderedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(orderedJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${orderedJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** If `replace` returns undefined, the member is removed. */
export function mapLeaves(value: Json, replace: (leaf: Json) => Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, replace) ?? null);
  if (!isObject(value)) return replace(value);
  // fromEntries creates an ordinary member for __proto__.
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const mapped = mapLeaves(member, replace);
      return mapped === undefined ? [] : [[name, mapped]];
    }),
  );
}

/** In the order of {@link mapLeaves}. */
export function findLeaf(value: Json, leaf: Json): (string | number)[] | undefined {
  if (typeof value !== 'object' || value === null) return value === leaf ? [] : undefined;
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const path = findLeaf(member, leaf);
    if (path) return [key, ...path];
  }
  return undefined;
}

/** Never recurses deeper than `limit`. */
export function isNestedDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (limit === 0) return items.length > 0;
  for (const item of items) if (isNestedDeeperThan(limit - 1, item)) return true;
  return false;
}

export const unstorable = 'contains a NUL character or a lone surrogate';

/** Postgres stores neither NUL characters nor lone surrogates. `json` comes from JSON.stringify, which escapes both. */
export function isStorable(json: string | undefined): boolean {
  return !json?.includes('\\u') || !escaped.test(json);
}

/** A `\u` is an escape only after an even number of backslashes, which are characters of the text. */
const escaped = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/;
