import { Streamed } from '@sluice/http-api';
import { operation } from '../context.ts';
import { exportQuery, exportText } from './log.schema.ts';
import { exportLog } from './log-export.ts';
import { filterOf } from './log-filter.ts';

const exportLogOperation = operation({
  id: 'exportLogs',
  tag: 'Logs',
  summary: 'Export the audit log in the order of its ledger',
  description: [
    'Each line is a row as JSON (`application/x-ndjson`). With `Accept: text/csv` the export is CSV (RFC 4180) with a header, a column for each field, and `detail` as JSON. A cell that a spreadsheet would run as a formula begins with an apostrophe.',
    'Rows are those of `GET /logs`, with `leaf_version`, `leaf_index` and `leaf_hash`, in the order of `leaf_index`. Rows of the last two seconds may be missing, because they are not in the ledger yet.',
    'An export without filters and without `start` is complete. `npm run ledger -- verify` and `sluice logs verify` verify a complete export against a checkpoint. If retention has dropped rows, a complete export in NDJSON begins with the line `{ "dropped": n, "hashes": [...] }`. `dropped` is the number of dropped rows. In the Merkle tree, complete subtrees cover the dropped rows. `hashes` has the hash of each of these subtrees, from left to right. The checkpoint states the number of dropped rows, too. If its number differs from `dropped`, either somebody removed rows, or retention ran between the export and the checkpoint. In this case, get the export and the checkpoint again.',
    'If the connection is reset before the end of the response, the export is incomplete. To continue it, send the `leaf_index` of the last complete line, plus one, as `start`. The connection is reset after an hour, and when the key, its Application or its permission is removed. If the Tenant already has ten open exports and event streams, the response is 429.',
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
