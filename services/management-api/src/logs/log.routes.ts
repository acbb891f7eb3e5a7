import { entityNames, presentLog } from '@sluice/audit';
import { isPastEnd } from '@sluice/database';
import { readCursor, signCursor, toPage } from '@sluice/http-api';
import { operation } from '../context.ts';
import { pageLimit } from '../reserve-page.ts';
import {
  countAllLogs,
  countFilteredLogs,
  type LogFilter,
  type LogPlace,
  listLogs,
  mostCounted,
} from './log.queries.ts';
import { entityTypeList, listLogsQuery, logPage } from './log.schema.ts';
import { filterOf } from './log-filter.ts';
import { namesOf } from './log-names.ts';

const listLogsOperation = operation({
  id: 'listLogs',
  tag: 'Logs',
  summary: 'List the audit log, newest first',
  description:
    'Each row says who did what to which resource, when, and which tokens were disclosed where. A new row is listed within two seconds. ' +
    'A request has one row. Exception: a request with a streamed body has one row for each part in which tokens are found, all with the same `trace_id`. ' +
    'To get the next page, send `pagination.next` as `start`. If you send `start`, the rows are not counted. The response then has no totals, and a page late in the list takes no longer than an early one. ' +
    '`names` has the names of the resources and people in the rows, including those that were deleted. ' +
    pageLimit,
  method: 'get',
  path: '/logs',
  permission: 'log:read',
  query: listLogsQuery,
  response: { 200: logPage },
  errors: ['payload_too_large'],
  async handle({ query, caller, hold }, { db, pepper }) {
    const { tenantId } = caller;
    const filter = filterOf(query);
    const scope = { caller, operation: 'listLogs', filter };
    const { page, size, start } = query;
    const after = start === undefined ? undefined : placeOf(readCursor(pepper, scope, start));
    const offset = after ? 0 : (page - 1) * size;
    const counted = after ? undefined : await countLogs(filter, { db, tenantId });
    // A total that is a lower bound does not show whether the page is past the end.
    const isPast = counted && !counted.isLowerBound && isPastEnd(query, counted.total);
    const rows = isPast ? [] : await listLogs(db, tenantId, { filter, size, offset, hold, ...(after && { after }) });
    const data = rows.slice(0, size).map(presentLog);
    const names = await namesOf(db, caller, data);
    const last = rows.length > size ? data.at(-1) : undefined;
    const next = last && { next: signCursor(pepper, scope, [last.created_at, last.id]) };
    if (!counted) return { pagination: { page_size: size, ...next }, data, names };
    const { total, isLowerBound } = counted;
    const { pagination } = toPage(data, total, query);
    return { pagination: { ...pagination, ...(isLowerBound && { total_is_lower_bound: true }), ...next }, data, names };
  },
});

async function countLogs(
  filter: LogFilter,
  { db, tenantId }: { db: Parameters<typeof countAllLogs>[0]; tenantId: string },
): Promise<{ total: number; isLowerBound: boolean }> {
  if (Object.keys(filter).length === 0) return { total: await countAllLogs(db, tenantId), isLowerBound: false };
  const counted = await countFilteredLogs(db, tenantId, filter);
  return { total: Math.min(counted, mostCounted), isLowerBound: counted > mostCounted };
}

function placeOf([at = '', id = '']: readonly string[]): LogPlace {
  return { at, id };
}

const listEntityTypes = operation({
  id: 'listLogEntityTypes',
  tag: 'Logs',
  summary: 'List the entity types of the audit log',
  description: 'A plain array, without pagination.',
  method: 'get',
  path: '/logs/entity-types',
  permission: 'log:read',
  response: { 200: entityTypeList },
  async handle() {
    return Object.entries(entityNames).map(([value, display_name]) => ({ display_name, value }));
  },
});

export const logOperations = [listLogsOperation, listEntityTypes];
