import type { Queryable } from '@sluice/database';
import { type RawBuilder, sql } from 'kysely';
import { ciphertextHeadBytes } from '../encryption/cipher.ts';
import type { EncryptedTable } from './encrypted-rows.ts';

/** Ciphertexts under an older version, in the order of the table's columns; others are null. */
export interface OldRow {
  id: string;
  ciphertexts: (Buffer | null)[];
}

export interface Page {
  rows: OldRow[];
  lastId: string | undefined;
}

export interface Older {
  tenantId: string;
  version: number;
}

const pageRows = 500;
/** The approximate bytes of ciphertext in one page, because a token may hold a megabyte. */
const pageBytes = 8 * 1024 * 1024;

/** Reads at most one page by primary key, which limits time if few rows are old, and memory if rows are large. */
export async function readPage(
  db: Queryable,
  { table, idType, columns }: EncryptedTable,
  { tenantId, version, after }: Older & { after: string },
): Promise<Page> {
  const old = columns.map(({ column }) => sql`case when ${isOlder(column, version)} then ${sql.ref(column)} end`);
  const bytes = sql.join(
    old.map((ciphertext) => sql`coalesce(octet_length(${ciphertext}), 0)`),
    sql` + `,
  );
  const named = old.map((ciphertext, i) => sql`${ciphertext} as ${sql.ref(`c${i}`)}`);
  const { rows } = await sql<{ id: string } & Record<string, Buffer | null>>`
    select id, ${sql.join(columns.map((_, i) => sql.ref(`c${i}`)))} from (
      select id, ${sql.join(named)}, sum(${bytes}) over (order by id) - (${bytes}) as bytes_before
      from ${sql.table(table)}
      where tenant_id = ${tenantId} and id > ${sql`${after}::${sql.raw(idType)}`}
      order by id limit ${sql.lit(pageRows)}
    ) as page
    where bytes_before < ${sql.lit(pageBytes)}
    order by id
  `.execute(db);
  return {
    rows: rows.map((row) => ({ id: row.id, ciphertexts: columns.map((_, i) => row[`c${i}`] ?? null) })),
    lastId: rows.at(-1)?.id,
  };
}

export interface NewRow extends OldRow {
  replacements: (Buffer | null)[];
}

/** Skips rows that are locked or have changed since they were read. @returns how many it changed. */
export async function replaceCiphertexts(
  db: Queryable,
  { table, idType, columns }: EncryptedTable,
  { tenantId, rows }: { tenantId: string; rows: readonly NewRow[] },
): Promise<number> {
  const arrays = columns.flatMap((_, i) => [
    sql`${rows.map((row) => row.ciphertexts[i]?.subarray(0, ciphertextHeadBytes) ?? null)}::bytea[]`,
    sql`${rows.map((row) => row.replacements[i] ?? null)}::bytea[]`,
  ]);
  const names = columns.flatMap((_, i) => [sql.ref(`old${i}`), sql.ref(`new${i}`)]);
  const unchanged = columns.map(
    ({ column }, i) => sql`(${sql.ref(`old${i}`)} is null or ${headOf(column)} = ${sql.ref(`old${i}`)})`,
  );
  const set = columns.map(
    ({ column }, i) => sql`${sql.ref(column)} = coalesce(due.${sql.ref(`new${i}`)}, stored.${sql.ref(column)})`,
  );
  const { numAffectedRows } = await sql`
    with input (id, ${sql.join(names)}) as materialized (
      select * from unnest(${rows.map(({ id }) => id)}::${sql.raw(idType)}[], ${sql.join(arrays)})
    ),
    due as materialized (
      select stored.id, ${sql.join(columns.map((_, i) => sql.ref(`new${i}`)))}
      from ${sql.table(table)} as stored join input on stored.id = input.id
      where stored.tenant_id = ${tenantId} and ${sql.join(unchanged, sql` and `)}
      order by stored.id for update of stored skip locked
    )
    update ${sql.table(table)} as stored set ${sql.join(set)}
    from due where stored.tenant_id = ${tenantId} and stored.id = due.id
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

export async function countOlder(db: Queryable, table: EncryptedTable, { tenantId, version }: Older): Promise<number> {
  const older = sql.join(
    table.columns.map(({ column }) => isOlder(column, version)),
    sql` or `,
  );
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table.table)} where tenant_id = ${tenantId} and (${older})
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Leaves out ciphertexts that are too short to name a version. */
export async function countByVersion(
  db: Queryable,
  tables: readonly EncryptedTable[],
  tenantId: string,
): Promise<Map<number, number>> {
  if (tables.length === 0) return new Map();
  const each = tables.flatMap(({ table, columns }) =>
    columns.map(
      ({ column }) => sql`
        select ${versionOf(column)} as version from ${sql.table(table)}
        where tenant_id = ${tenantId} and ${sql.ref(column)} is not null`,
    ),
  );
  const { rows } = await sql<{ version: Buffer; count: number }>`
    select version, count(*) as count from (${sql.join(each, sql` union all `)}) as ciphertexts group by version
  `.execute(db);
  const whole = rows.filter(({ version }) => version.length === 4);
  return new Map(whole.map(({ version, count }) => [version.readUInt32BE(0), count]));
}

function headOf(column: string): RawBuilder<Buffer> {
  return sql`substring(stored.${sql.ref(column)} from 1 for ${sql.lit(ciphertextHeadBytes)})`;
}

/** Bytes 1 to 4; being big endian they compare as numbers do. */
function versionOf(column: string): RawBuilder<Buffer> {
  return sql`substring(${sql.ref(column)} from 2 for 4)`;
}

function isOlder(column: string, version: number): RawBuilder<boolean> {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(version);
  return sql`${versionOf(column)} < ${bytes}::bytea`;
}
