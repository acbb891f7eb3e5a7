import { notExpired } from '@sluice/credentials';
import {
  addToCounter,
  type Database,
  isPastEnd,
  nextVersion,
  type ProxiesTable,
  type ProxyColumns,
  proxyColumns,
  type Queryable,
  readCounter,
} from '@sluice/database';
import type { Hold, PageRequest } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { inOrder, type Sorted } from '../list-order.ts';
import { isNameFilter, nameMatches } from '../name-filter.ts';
import { reservePage } from '../reserve-page.ts';

/** Null once the Application is deleted or has expired. */
const applicationId = sql<string | null>`(
  select applications.id from applications
  where applications.tenant_id = proxies.tenant_id and applications.id = proxies.application_id and ${notExpired}
)`.as('application_id');

type PlainColumn = Exclude<keyof ProxyColumns, 'application_id'>;

const plainColumns = [
  'id',
  'tenant_id',
  'key_ciphertext',
  ...proxyColumns.filter((column): column is PlainColumn => column !== 'application_id'),
  'named_application_id',
  'version',
  'changed_members',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

const columns = [...plainColumns, applicationId] as const;

export type ProxyRow = Pick<Selectable<ProxiesTable>, (typeof plainColumns)[number] | 'application_id'>;

const counter = 'proxies';

export async function insertProxy(db: Queryable, row: Insertable<ProxiesTable>): Promise<ProxyRow> {
  const statement = db.insertInto('proxies').values(row).returning(columns);
  const proxy = await unlessTaken(statement.executeTakeFirstOrThrow(), row.path_name);
  await addToCounter(db, row.tenant_id, counter, 1);
  return proxy;
}

/** @throws {ServiceError} `conflict` if another Proxy of the Tenant has this name. */
function unlessTaken<T>(statement: Promise<T>, pathName: string | null | undefined): Promise<T> {
  return statement.catch((error: unknown) => {
    if (error instanceof Error && 'constraint' in error && error.constraint === 'proxies_path_name')
      throw new ServiceError('conflict', `Another Proxy has the path_name ${pathName}`, {
        errors: { path_name: [`is ${pathName}, which another Proxy has already`] },
      });
    throw error;
  });
}

export function findProxy(db: Queryable, tenantId: string, id: string): Promise<ProxyRow | undefined> {
  return byId(db, tenantId, id).executeTakeFirst();
}

/** By its id or by the name of its route. */
export function findCallRules(db: Queryable, tenantId: string, by: { id: string } | { path_name: string }) {
  const [column, value] = 'id' in by ? (['id', by.id] as const) : (['path_name', by.path_name] as const);
  return db
    .selectFrom('proxies')
    .select(['id', 'allowed_methods', 'allowed_paths', 'destination_url'])
    .select(sql<boolean>`request_transform is not null`.as('has_request_transform'))
    .where('tenant_id', '=', tenantId)
    .where(column, '=', value)
    .executeTakeFirst();
}

/** Locks it, so that concurrent patches do not undo each other. */
export function lockProxy(tx: Queryable, tenantId: string, id: string): Promise<ProxyRow | undefined> {
  return byId(tx, tenantId, id).forUpdate().executeTakeFirst();
}

function byId(db: Queryable, tenantId: string, id: string) {
  return db.selectFrom('proxies').select(columns).where('tenant_id', '=', tenantId).where('id', '=', id);
}

export interface ProxyFilter {
  ids: readonly string[];
  name: string | undefined;
  pathName?: string | undefined;
}

/** Reads the page's rows after their memory is reserved, and only the ids of skipped pages. */
export async function listProxies(
  db: Database,
  tenantId: string,
  { ids, name, pathName }: ProxyFilter,
  page: PageRequest & Sorted & { hold: Hold },
) {
  const wanted = db
    .selectFrom('proxies')
    .where('tenant_id', '=', tenantId)
    .$if(ids.length > 0, (query) => query.where('id', '=', sql<string>`any(${[...ids]}::uuid[])`))
    .$if(Boolean(pathName), (query) => query.where('path_name', '=', pathName ?? ''))
    .$if(isNameFilter(name), (query) => query.where(nameMatches(name ?? '')));
  const { total } =
    ids.length > 0 || isNameFilter(name) || pathName
      ? await wanted.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
      : { total: await readCounter(db, tenantId, counter) };
  if (isPastEnd(page, total)) return { data: [], total };
  const found = wanted
    .select('id as found_id')
    .$call(inOrder(page, 'proxies'))
    .limit(page.size)
    .offset((page.page - 1) * page.size);
  const rows = db
    .selectFrom('proxies')
    .innerJoin(found.as('found'), 'found_id', 'id')
    .select(columns)
    .where('tenant_id', '=', tenantId)
    .$call(inOrder(page, 'proxies'));
  await reservePage(db, rows, page);
  return { data: await rows.execute(), total };
}

export async function updateProxy(db: Queryable, tenantId: string, id: string, changes: Updateable<ProxiesTable>) {
  const statement = db
    .updateTable('proxies')
    .set({ ...changes, modified_at: nextVersion() })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(columns);
  return unlessTaken(statement.executeTakeFirst(), changes.path_name);
}

export async function deleteProxy(tx: Queryable, tenantId: string, id: string): Promise<void> {
  const deleted = await tx
    .deleteFrom('proxies')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (deleted.numDeletedRows > 0n) await addToCounter(tx, tenantId, counter, -1);
}
