import { canonicalContainer, type Grants } from '@sluice/access';
import { type RawBuilder, sql } from 'kysely';

export type Condition = RawBuilder<boolean>;

export interface IndexTerm {
  kind: 'type' | 'container' | 'created_by' | 'modified_by' | 'data' | `metadata.${string}`;
  value: string;
}

/**
 * Matches tokens with one of the terms. Terms are 64-bit hashes that may collide: add the exact condition if a false
 * match matters.
 */
export function hasTerm(tenantId: string, wanted: readonly IndexTerm[]): Condition {
  return sql<boolean>`search_terms && ${hashesOf(tenantId, wanted)}`;
}

/** {@link hasTerm} for all of them, reading the terms of a token once. */
export function hasTerms(tenantId: string, wanted: readonly IndexTerm[]): Condition {
  return sql<boolean>`search_terms @> ${hashesOf(tenantId, wanted)}`;
}

function hashesOf(tenantId: string, wanted: readonly IndexTerm[]) {
  const hashes = wanted.map(({ kind, value }) => sql`token_term(${tenantId}::uuid, ${kind}::text, ${value}::text)`);
  return sql`array[${sql.join(hashes)}]::bigint[]`;
}

export type Reach = 'everywhere' | readonly string[];

/** Tokens for which `decide` grants it, with any transform. */
export function reachOf({ permissions, rules }: Grants, permission: string): Reach {
  if (permissions.includes(permission)) return 'everywhere';
  const granting = rules.filter((rule) => rule.permissions.includes(permission));
  const containers = granting.map(({ container }) => canonicalContainer(container ?? '/'));
  return containers.includes('/') ? 'everywhere' : [...new Set(containers)];
}

export function isWithin(tenantId: string, reach: Reach): Condition | undefined {
  if (reach === 'everywhere') return undefined;
  if (reach.length === 0) return sql<boolean>`false`;
  return hasTerm(
    tenantId,
    reach.map((value) => ({ kind: 'container', value })),
  );
}
