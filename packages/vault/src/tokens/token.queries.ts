import { recordChange } from '@sluice/audit';
import { addToCounter, type Database, prepared, type Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { ciphertextHeadBytes } from '../encryption/cipher.ts';
import type { Json } from '../json.ts';
import type { Actor, TokenRow } from './token.ts';
import type { TokenUse } from './use/token-use.ts';

export const tokenColumns = [
  'id',
  'type',
  'tenant_id',
  'data_ciphertext',
  'cvc_ciphertext',
  'cvc_due_at',
  'mask',
  'containers',
  'metadata',
  'search_indexes',
  'fingerprint',
  'fingerprint_expression',
  'expires_at',
  'use',
  'blind_metadata_bytes',
  'active_month',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

/** By the database's clock: an expired token counts as absent before its row is deleted. */
export const notExpired = sql<boolean>`(expires_at is null or expires_at > clock_timestamp())`;

export const largeColumns = ['data_ciphertext', 'cvc_ciphertext', 'mask', 'metadata'] as const;
export const smallColumns = tokenColumns.filter((name) => !largeColumns.some((column) => column === name));

export const sizeBytes = sql<number>`(
  octet_length(data_ciphertext) + coalesce(octet_length(cvc_ciphertext), 0)
  + coalesce(octet_length(mask::text), 0) + octet_length(metadata::text)
)`;
const dataBytes = sql<number>`(
  greatest(octet_length(data_ciphertext), octet_length(cvc_ciphertext)) - ${sql.lit(ciphertextHeadBytes)}
)`;

/** A token whose large columns are read only when it is decrypted. */
export type LargeToken = Omit<TokenRow, (typeof largeColumns)[number]> & { size_bytes: number; data_bytes: number };

export type FoundToken = TokenRow | LargeToken;

export const isLarge = (token: FoundToken): token is LargeToken => 'size_bytes' in token;

/**
 * A token with more bytes in its large columns is found as a {@link LargeToken}, because one request can name a
 * hundred.
 */
const mostBytesFound = 64 * 1024;
const isSmall = sql<boolean>`(${sizeBytes} <= ${sql.lit(mostBytesFound)})`;

export async function findTokens(db: Queryable, tenantId: string, ids: readonly string[]): Promise<FoundToken[]> {
  const rows = await selectFound(db, tenantId, ids);
  return (rows as (TokenRow & LargeToken & { is_small: boolean })[]).map(
    ({ is_small, size_bytes, data_bytes, data_ciphertext, cvc_ciphertext, mask, metadata, ...row }) =>
      is_small ? { ...row, data_ciphertext, cvc_ciphertext, mask, metadata } : { ...row, size_bytes, data_bytes },
  );
}

const selectFound = prepared('tokens_found', (db, tenantId: string, ids: readonly string[]) =>
  db
    .selectFrom('tokens')
    .select(smallColumns)
    .select(largeColumns.map((name) => sql`case when ${isSmall} then ${sql.ref(name)} end`.as(name)))
    .select([isSmall.as('is_small'), sizeBytes.as('size_bytes'), dataBytes.as('data_bytes')])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${ids}::text[])`)
    .where(notExpired),
);

export type TokenPlace = Pick<TokenRow, 'id' | 'containers' | 'created_at' | 'modified_at'>;

export function findPlaces(db: Queryable, tenantId: string, ids: readonly string[]): Promise<TokenPlace[]> {
  return db
    .selectFrom('tokens')
    .select(['id', 'containers', 'created_at', 'modified_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${ids}::text[])`)
    .where(notExpired)
    .execute();
}

/** {@link findTokens}, but whole however large they are: name few. */
export async function findTokenRows(db: Queryable, tenantId: string, ids: readonly string[]): Promise<TokenRow[]> {
  const rows = await selectByIds(db, tenantId, ids);
  return rows as TokenRow[];
}

const selectByIds = prepared('tokens_by_ids', (db, tenantId: string, ids: readonly string[]) =>
  db
    .selectFrom('tokens')
    .select(tokenColumns)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sql<string>`any(${ids}::text[])`)
    .where(notExpired),
);

export async function lockTokenRow(tx: Queryable, tenantId: string, id: string): Promise<TokenRow | undefined> {
  const row = await tx
    .selectFrom('tokens')
    .select(tokenColumns)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notExpired)
    .forUpdate()
    .executeTakeFirst();
  return row as TokenRow | undefined;
}

export interface NewTokenRow {
  id: string;
  type: string;
  data_ciphertext: Buffer;
  cvc_ciphertext: Buffer | null;
  cvc_due_at: string | null;
  mask: Json;
  containers: string[];
  metadata: Record<string, string>;
  search_indexes: string[];
  search_hashes: string[];
  /** Stored only if the Tenant's setting, the expression or deduplication requires it. */
  fingerprint: string | null;
  fingerprint_expression: string | null;
  deduplicate: boolean | null;
  expires_at: string | null;
  /** A token with `use` takes no part in deduplication. */
  use: TokenUse | null;
  trace_id: string;
  /** All tokens of a request share an audit row. */
  log_id: string;
}

/** Updates counter and audit log. The transaction must have locked the token. */
export async function deleteTokenRow(tx: Queryable, actor: Actor, id: string): Promise<void> {
  const { tenantId, id: actorId, actorType = 'application', applicationId, traceId } = actor;
  const { type } = await tx
    .deleteFrom('tokens')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning('type')
    .executeTakeFirstOrThrow();
  await addToCounter(tx, tenantId, `tokens:${type}`, -1);
  await recordChange(
    tx,
    { tenantId, actorId, actorType, traceId },
    {
      operation: 'delete',
      entityType: 'token',
      entityId: id,
      ...(applicationId !== undefined && { detail: { application_id: applicationId } }),
    },
  );
}

/** Only the process that updates a row counts it, so none counts twice. @returns the ids that are active now. */
export async function noteActivity(
  db: Database,
  tenantId: string,
  ids: readonly string[],
  month: string,
): Promise<ReadonlySet<string>> {
  return db.transaction().execute(async (tx) => {
    const { noted, added } = await noteActiveRows(tx, tenantId, ids, month);
    await countActive(tx, tenantId, month, added);
    return noted;
  });
}

/** The transaction must then count `added`. Waits for locked rows, in sorted order, so that none deadlock. */
export async function noteActiveRows(
  tx: Queryable,
  tenantId: string,
  ids: readonly string[],
  month: string,
): Promise<{ noted: ReadonlySet<string>; added: number }> {
  if (ids.length === 0) return { noted: new Set(), added: 0 };
  const { rows } = await sql<{ id: string; is_new: boolean }>`
    with due as (
      select id from tokens
      where tenant_id = ${tenantId} and id = any(${ids}::text[]) and active_month < ${month}::date
      order by id for update
    ),
    touched as (
      update tokens set active_month = ${month}::date from due
      where tokens.tenant_id = ${tenantId} and tokens.id = due.id
      returning tokens.id
    )
    select id, true as is_new from touched
    union all
    select id, false from tokens
    where tenant_id = ${tenantId} and id = any(${ids}::text[]) and active_month >= ${month}::date
  `.execute(tx);
  return { noted: new Set(rows.map(({ id }) => id)), added: rows.filter(({ is_new }) => is_new).length };
}

/** Lock no row of a token after it. */
export async function countActive(tx: Queryable, tenantId: string, month: string, added: number): Promise<void> {
  if (added > 0) await addToCounter(tx, tenantId, `active_tokens:${month}`, added);
}
