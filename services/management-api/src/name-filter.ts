export function isNameFilter(name: string | undefined): name is string {
  return name !== undefined && /[^*]/.test(name);
}

/** `*` matches any run of characters; a pattern without one means "contains". `%` and `_` are literal. */
export function likePattern(wildcard: string): string {
  return wildcard.includes('*') ? escaped(wildcard).replaceAll('*', '%') : containsPattern(wildcard);
}

/** `*`, `%` and `_` are literal. */
export function containsPattern(text: string): string {
  return `%${escaped(text)}%`;
}

const escaped = (text: string) => text.replace(/[\\%_]/g, '\\$&');
