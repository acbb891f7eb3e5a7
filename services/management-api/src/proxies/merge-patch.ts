type Json = unknown;

/** JSON merge patch (RFC 7386 section 2): null removes, objects merge, everything else replaces. Changes neither input. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, Json>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  // fromEntries defines own members, so that "__proto__" is a name like any other.
  return Object.fromEntries(merged);
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
