import { Streamed } from '@sluice/http-api';
import { operation } from '../context.ts';
import { exportQuery, exportText } from './log.schema.ts';
import { exportLog } from './log-export.ts';
import { filterOf } from './log-filter.ts';

const exportLogOperation = operation({
  id: 'exportLogs',
  tag: 'Logs',
  summary: 'Export the audit log in the order of its ledger, of any size: for an auditor, and to verify it',
  description: [
    'One row a line as JSON (`application/x-ndjson`), or with `Accept: text/csv` as CSV (RFC 4180: a header, a column for each member, `detail` as JSON; a cell that a spreadsheet would run as a formula begins with an apostrophe).',
    'Rows are those of `GET /logs` with `leaf_version`, `leaf_index` and `leaf_hash`, in the order of `leaf_index`. Rows that are not in the ledger yet, at most those of the last two seconds, are not exported.',
    'Only an export without filter and `start` is a whole one, which `npm run ledger -- verify` and `sluice logs verify` check against a checkpoint. Where retention has dropped rows, a whole one in NDJSON begins with the line `{ "dropped": n, "hashes": [...] }`: the complete subtrees over the first n leaves, left to right; the checkpoint states the same number, or rows were removed.',
    'An export that breaks off goes on with `start`: one more than the `leaf_index` of the last line that is complete. It is complete where the answer ends as HTTP has it: a connection that is reset says that it is not. It is reset when the key, its Application or its permission goes, and after an hour. A Tenant has at most ten exports and event streams at a time.',
  ].join('\n\n'),
  method: 'get',
  path: '/logs/export',
  isDownload: true,
  permission: 'log:read',
  query: exportQuery,
  produces: ['application/x-ndjson', 'text/csv'],
  response: { 200: exportText },
  async handle({ query, caller: { tenantId }, accepted }, { db, exportTurns }) {
    const format = accepted === 'text/csv' ? 'csv' : 'ndjson';
    const inTurn = <T>(read: () => Promise<T>) => exportTurns.run(tenantId, read);
    const of = { tenantId, filter: filterOf(query), start: query.start, format, inTurn } as const;
    return new Streamed(exportLog(db, of));
  },
});

export const logExportOperations = [exportLogOperation];
