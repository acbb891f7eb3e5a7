import type { ApplicationType } from '@sluice/access';
import { notExpired } from '@sluice/credentials';
import {
  type ApplicationsTable,
  addToCounter,
  type Database,
  isPastEnd,
  nextVersion,
  prepared,
  type Queryable,
} from '@sluice/database';
import type { Hold, PageRequest } from '@sluice/http-api';
import { type Insertable, sql } from 'kysely';
import { inOrder, type Sorted } from '../list-order.ts';
import { isNameFilter, nameMatches } from '../name-filter.ts';
import { reservePage } from '../reserve-page.ts';
import { insertKey } from './keys/application-key.queries.ts';

const columns = [
  'id',
  'tenant_id',
  'name',
  'type',
  'permissions',
  'rules',
  'allowed_origins',
  'proxies',
  'expires_at',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

const counter = 'applications';

/** With its first key. */
type NewApplication = Insertable<ApplicationsTable> & { key_hash: Buffer; last_four: string };

/** Call it in a transaction, because it also inserts the first key. */
export async function insertApplication(db: Queryable, { last_four, ...row }: NewApplication) {
  await insertKey(db, {
    tenantId: row.tenant_id,
    applicationId: row.id,
    version: 1,
    keyHash: row.key_hash,
    lastFour: last_four,
    createdBy: row.created_by ?? null,
  });
  const application = await db
    .insertInto('applications')
    .values({ ...row, last_key_version: 1 })
    .returning(columns)
    .executeTakeFirstOrThrow();
  await addToCounter(db, row.tenant_id, counter, 1);
  return application;
}

export async function findApplication(db: Queryable, tenantId: string, id: string) {
  const [application] = await selectById(db, tenantId, id);
  return application;
}

const selectById = prepared('application_by_id', (db, tenantId: string, id: string) =>
  db
    .selectFrom('applications')
    .select(columns)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notExpired),
);

/** An empty list of ids matches every Application. */
export interface ApplicationFilter {
  ids: readonly string[];
  type?: ApplicationType | undefined;
  name?: string | undefined;
}

/** Reads only the page's rows, and an index of ids for skipped pages. */
export async function listApplications(
  db: Database,
  tenantId: string,
  { ids, type, name }: ApplicationFilter,
  page: PageRequest & Sorted & { hold: Hold },
) {
  const wanted = db
    .selectFrom('applications')
    .where('tenant_id', '=', tenantId)
    .where(notExpired)
    .$if(ids.length > 0, (query) => query.where('id', '=', sql<string>`any(${[...ids]}::uuid[])`))
    .$if(type !== undefined, (query) => query.where(sql<boolean>`type = ${type}`))
    .$if(isNameFilter(name), (query) => query.where(nameMatches(name ?? '')));
  const { total } =
    ids.length > 0 || type !== undefined || isNameFilter(name)
      ? await wanted.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
      : { total: await countAll(db, tenantId) };
  if (isPastEnd(page, total)) return { data: [], total };
  const found = wanted
    .select('id as found_id')
    .$call(inOrder(page, 'applications'))
    .limit(page.size)
    .offset((page.page - 1) * page.size);
  const rows = db
    .selectFrom('applications')
    .innerJoin(found.as('found'), 'found_id', 'id')
    .select(columns)
    .where('tenant_id', '=', tenantId)
    .$call(inOrder(page, 'applications'));
  await reservePage(db, rows, page);
  return { data: await rows.execute(), total };
}

/**
 * The counter minus expired rows, in one statement, because the worker removes rows and lowers the counter together.
 * `statement_timestamp()`, because it is constant, so an index can serve it.
 */
async function countAll(db: Database, tenantId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select (
      coalesce((select sum(value) from counters where tenant_id = ${tenantId} and counter = ${counter}), 0)
      - (select count(*) from applications where tenant_id = ${tenantId} and expires_at <= statement_timestamp())
    )::bigint as total
  `.execute(db);
  return rows[0]?.total ?? 0;
}

export function lockApplication(tx: Queryable, tenantId: string, id: string) {
  return tx
    .selectFrom('applications')
    .select(['id', 'name', 'type', 'permissions', 'rules', 'proxies', 'created_at', 'modified_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notExpired)
    .forUpdate()
    .executeTakeFirst();
}

export interface ApplicationChanges {
  name?: string;
  permissions?: string[];
  rules?: string;
  /** Null removes the list. */
  allowed_origins?: string[] | null;
  /** Null removes the list. */
  proxies?: string[] | null;
  modified_by: string;
}

export function updateApplication(db: Queryable, tenantId: string, id: string, changes: ApplicationChanges) {
  return db
    .updateTable('applications')
    .set({ ...changes, modified_at: nextVersion() })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(notExpired)
    .returning(columns)
    .executeTakeFirst();
}
