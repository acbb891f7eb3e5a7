import { sql } from 'kysely';

/**
 * Compares the names of the Tenant alone, 75 ms for 100,000. A trigram index would have the names of all Tenants, and one that has
 * many names of frequent trigrams would slow the lists of others.
 */
export function nameMatches(name: string) {
  return sql<boolean>`lower(name) like lower(${likePattern(name)})`;
}

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
