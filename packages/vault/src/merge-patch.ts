import { isObject, type Json } from './json.ts';

/** JSON merge patch (RFC 7386, section 2). Changes neither input. */
export function mergePatch(target: unknown, patch: unknown): Json {
  if (!isObject(patch)) return patch as Json;
  const merged = new Map<string, Json>(isObject(target) ? Object.entries(target) : []);
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) merged.delete(member);
    else merged.set(member, mergePatch(merged.get(member), value));
  }
  return Object.fromEntries(merged);
}
