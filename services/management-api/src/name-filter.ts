export function isNameFilter(name: string | undefined): name is string {
  return name !== undefined && /[^*]/.test(name);
}

/** `*` matches any run of characters; a pattern without one means "contains". `%` and `_` are literal. */
export function likePattern(wildcard: string): string {
  const escaped = wildcard.replace(/[\\%_]/g, '\\$&');
  return escaped.includes('*') ? escaped.replaceAll('*', '%') : `%${escaped}%`;
}
