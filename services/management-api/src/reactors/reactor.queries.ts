import { notExpired } from '@sluice/credentials';
import {
  addToCounter,
  type Database,
  isPastEnd,
  nextVersion,
  type Queryable,
  type ReactorsTable,
  readCounter,
} from '@sluice/database';
import type { Hold, PageRequest } from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { inOrder, type Sorted } from '../list-order.ts';
import { isNameFilter, nameMatches } from '../name-filter.ts';
import { reservePage } from '../reserve-page.ts';

/** Null once the Application is deleted or has expired. */
const applicationId = sql<string | null>`(
  select applications.id from applications
  where applications.tenant_id = reactors.tenant_id and applications.id = reactors.application_id and ${notExpired}
)`.as('application_id');

const columns = [
  'id',
  'tenant_id',
  'name',
  'code',
  'formula_id',
  applicationId,
  'configuration_ciphertext',
  'retryable',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

export type ReactorRow = Selectable<ReactorsTable>;

const counter = 'reactors';

export async function insertReactor(tx: Queryable, row: Insertable<ReactorsTable>): Promise<ReactorRow> {
  const statement = tx.insertInto('reactors').values(row).returning(columns);
  const reactor = await unlessFormulaIsGone(statement.executeTakeFirstOrThrow());
  await addToCounter(tx, row.tenant_id, counter, 1);
  return reactor;
}

/** @throws {ServiceError} as for an unknown formula, if it was deleted after it was read. */
function unlessFormulaIsGone<T>(statement: Promise<T>): Promise<T> {
  return statement.catch((error: unknown) => {
    if (error instanceof Error && 'constraint' in error && error.constraint === 'reactors_formula')
      throw unknownFormula();
    throw error;
  });
}

export function reactorNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Reactor ${id} does not exist`);
}

export function unknownFormula(): ServiceError {
  return validationFailed({ 'formula.id': ['must be the id of a reactor formula'] });
}

export function findReactor(db: Queryable, tenantId: string, id: string): Promise<ReactorRow | undefined> {
  return byId(db, tenantId, id).executeTakeFirst();
}

/** Locks it, so that concurrent patches do not undo each other. */
export function lockReactor(tx: Queryable, tenantId: string, id: string): Promise<ReactorRow | undefined> {
  return byId(tx, tenantId, id).forUpdate().executeTakeFirst();
}

function byId(db: Queryable, tenantId: string, id: string) {
  return db.selectFrom('reactors').select(columns).where('tenant_id', '=', tenantId).where('id', '=', id);
}

export interface ReactorFilter {
  ids: readonly string[];
  name: string | undefined;
  formulaId: string | undefined;
}

/** Reads the page's rows after their memory is reserved. */
export async function listReactors(
  db: Database,
  tenantId: string,
  { ids, name, formulaId }: ReactorFilter,
  page: PageRequest & Sorted & { hold: Hold },
) {
  const wanted = db
    .selectFrom('reactors')
    .where('tenant_id', '=', tenantId)
    .$if(ids.length > 0, (query) => query.where('id', '=', sql<string>`any(${[...ids]}::uuid[])`))
    .$if(isNameFilter(name), (query) => query.where(nameMatches(name ?? '')))
    .$if(formulaId !== undefined, (query) => query.where('formula_id', '=', formulaId ?? ''));
  const { total } =
    ids.length > 0 || isNameFilter(name) || formulaId !== undefined
      ? await wanted.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
      : { total: await readCounter(db, tenantId, counter) };
  if (isPastEnd(page, total)) return { data: [], total };
  const found = wanted
    .select('id as found_id')
    .$call(inOrder(page, 'reactors'))
    .limit(page.size)
    .offset((page.page - 1) * page.size);
  const rows = db
    .selectFrom('reactors')
    .innerJoin(found.as('found'), 'found_id', 'id')
    .select(columns)
    .where('tenant_id', '=', tenantId)
    .$call(inOrder(page, 'reactors'));
  await reservePage(db, rows, page);
  return { data: await rows.execute(), total };
}

export function updateReactor(
  tx: Queryable,
  { tenantId, id }: { tenantId: string; id: string },
  changes: Updateable<ReactorsTable>,
): Promise<ReactorRow | undefined> {
  const statement = tx
    .updateTable('reactors')
    .set({ ...changes, modified_at: nextVersion() })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(columns);
  return unlessFormulaIsGone(statement.executeTakeFirst());
}

export async function deleteReactor(tx: Queryable, tenantId: string, id: string): Promise<void> {
  const deleted = await tx
    .deleteFrom('reactors')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (deleted.numDeletedRows > 0n) await addToCounter(tx, tenantId, counter, -1);
}
