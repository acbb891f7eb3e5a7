/** `['rules', 0, 'priority']` → `rules[0].priority`. */
export function memberPath(path: readonly (string | number)[]): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

/** The same for a JSON Pointer (RFC 6901) from ajv. */
export function pointerPath(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  return memberPath(
    parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~'))),
  );
}
