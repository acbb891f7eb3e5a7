import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { type TokenTypeName, tokenTypeNames, tokenTypeOf } from '../../types/token-types.ts';
import { notExpired } from '../token.queries.ts';
import type { TokenRow } from '../token.ts';

type Derived = Pick<TokenRow, 'type' | 'fingerprint' | 'fingerprint_expression'>;

export type Fingerprinted = Derived & { fingerprint: string };

export function hasFingerprint<T extends Derived>(row: T): row is T & Fingerprinted {
  return row.fingerprint !== null;
}

/** Whether the token takes part in deduplication. One with `use` would answer a create that asks for no restriction. */
export function takesPart({ use }: Pick<TokenRow, 'use'>): boolean {
  return use === null;
}

const defaultExpressions = tokenTypeNames.flatMap((type): [TokenTypeName, string][] => {
  const { fingerprintExpression } = tokenTypeOf(type);
  return fingerprintExpression === undefined ? [] : [[type, fingerprintExpression]];
});

/**
 * The same text for equal tokens. A fingerprint alone is not enough, because creators choose their own expressions, and
 * one over a member of their choice yields the fingerprint of any value. The default expression of a type counts as
 * none.
 */
export function equalityOf({ type, fingerprint, fingerprint_expression }: Fingerprinted): string {
  const isDefault = defaultExpressions.some(([name, text]) => name === type && text === fingerprint_expression);
  return `${type}\n${fingerprint}\n${isDefault ? '' : (fingerprint_expression ?? '')}`;
}

const defaults = sql.join(defaultExpressions.map(([type, text]) => sql`(${sql.lit(type)}, ${sql.lit(text)})`));
/** {@link equalityOf} for a row. */
const equality = sql<string>`(type || chr(10) || fingerprint || chr(10) || case
  when (type, fingerprint_expression) in (${defaults}) then '' else coalesce(fingerprint_expression, '') end)`;

const takesPartInSql = sql<boolean>`(use is null)`;

/** Makes creations of equal tokens wait until the transaction ends. Sorted, so that they cannot deadlock. */
export async function lockFingerprints(
  tx: Queryable,
  tenantId: string,
  fingerprints: readonly string[],
): Promise<void> {
  const names = [...new Set(fingerprints)].sort().map((fingerprint) => `${tenantId}/${fingerprint}`);
  await sql`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names}::text[]) as t(name)`.execute(
    tx,
  );
}

/** `equality` is the one that the found token shares with a given one. */
export async function findOldestEqual(
  db: Queryable,
  tenantId: string,
  tokens: readonly Fingerprinted[],
): Promise<(Pick<TokenRow, 'id' | 'containers'> & { equality: string })[]> {
  return db
    .selectFrom('tokens')
    .select(['id', 'containers', equality.as('equality')])
    .distinctOn(equality)
    .where('tenant_id', '=', tenantId)
    .where('type', '=', sql<string>`any(${tokens.map(({ type }) => type)}::text[])`)
    .where('fingerprint', '=', sql<string>`any(${tokens.map(({ fingerprint }) => fingerprint)}::text[])`)
    .where(equality, '=', sql<string>`any(${tokens.map(equalityOf)}::text[])`)
    .where(takesPartInSql)
    .where(notExpired)
    .orderBy(equality)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Call it after {@link lockFingerprints}. */
export async function hasEqual(
  tx: Queryable,
  tenantId: string,
  { id, ...token }: Fingerprinted & { id: string },
): Promise<boolean> {
  const other = await tx
    .selectFrom('tokens')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('type', '=', token.type)
    .where('fingerprint', '=', token.fingerprint)
    .where(equality, '=', equalityOf(token))
    .where(takesPartInSql)
    .where('id', '!=', id)
    .where(notExpired)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
