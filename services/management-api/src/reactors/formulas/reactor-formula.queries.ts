import {
  addToCounter,
  type Database,
  isPastEnd,
  nextVersion,
  type Queryable,
  type ReactorFormulasTable,
  readCounter,
} from '@sluice/database';
import type { Hold, PageRequest } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { inOrder, type Sorted } from '../../list-order.ts';
import { isNameFilter, nameMatches } from '../../name-filter.ts';
import { reservePage } from '../../reserve-page.ts';

const columns = [
  'id',
  'tenant_id',
  'name',
  'description',
  'icon',
  'code',
  'configuration',
  'request_parameters',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

export type FormulaRow = Selectable<ReactorFormulasTable>;

const counter = 'reactor_formulas';

export async function insertFormula(tx: Queryable, row: Insertable<ReactorFormulasTable>): Promise<FormulaRow> {
  const formula = await tx.insertInto('reactor_formulas').values(row).returning(columns).executeTakeFirstOrThrow();
  await addToCounter(tx, row.tenant_id, counter, 1);
  return formula;
}

export function findFormula(db: Queryable, tenantId: string, id: string): Promise<FormulaRow | undefined> {
  return db
    .selectFrom('reactor_formulas')
    .select(columns)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function lockFormula(tx: Queryable, tenantId: string, id: string) {
  return tx
    .selectFrom('reactor_formulas')
    .select(['created_at', 'modified_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

interface FormulaFilter {
  ids: readonly string[];
  name: string | undefined;
}

/** Reads the page's rows after their memory is reserved. */
export async function listFormulas(
  db: Database,
  tenantId: string,
  { ids, name }: FormulaFilter,
  page: PageRequest & Sorted & { hold: Hold },
) {
  const wanted = db
    .selectFrom('reactor_formulas')
    .where('tenant_id', '=', tenantId)
    .$if(ids.length > 0, (query) => query.where('id', '=', sql<string>`any(${[...ids]}::uuid[])`))
    .$if(isNameFilter(name), (query) => query.where(nameMatches(name ?? '')));
  const { total } =
    ids.length > 0 || isNameFilter(name)
      ? await wanted.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
      : { total: await readCounter(db, tenantId, counter) };
  if (isPastEnd(page, total)) return { data: [], total };
  const found = wanted
    .select('id as found_id')
    .$call(inOrder(page, 'reactor_formulas'))
    .limit(page.size)
    .offset((page.page - 1) * page.size);
  const rows = db
    .selectFrom('reactor_formulas')
    .innerJoin(found.as('found'), 'found_id', 'id')
    .select(columns)
    .where('tenant_id', '=', tenantId)
    .$call(inOrder(page, 'reactor_formulas'));
  await reservePage(db, rows, page);
  return { data: await rows.execute(), total };
}

export function updateFormula(
  tx: Queryable,
  { tenantId, id }: { tenantId: string; id: string },
  changes: Updateable<ReactorFormulasTable>,
): Promise<FormulaRow | undefined> {
  return tx
    .updateTable('reactor_formulas')
    .set({ ...changes, modified_at: nextVersion() })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst();
}

/** @throws {ServiceError} `conflict` while a reactor uses it. */
export async function deleteFormula(tx: Queryable, tenantId: string, id: string): Promise<void> {
  const statement = tx.deleteFrom('reactor_formulas').where('tenant_id', '=', tenantId).where('id', '=', id);
  const deleted = await statement.executeTakeFirstOrThrow().catch((error: unknown) => {
    if (!(error instanceof Error && 'constraint' in error && error.constraint === 'reactors_formula')) throw error;
    throw new ServiceError('conflict', 'Reactors use this formula; change or delete them first');
  });
  if (deleted.numDeletedRows > 0n) await addToCounter(tx, tenantId, counter, -1);
}
