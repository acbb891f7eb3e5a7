import { presentLog } from '@sluice/audit';
import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { findLedger, inOneMoment } from './ledger.queries.ts';
import { countFilteredLogs, type LogFilter, mostCounted } from './log.queries.ts';
import { csvHeader, toCsvLine } from './log-csv.ts';
import {
  hashesOfDropped,
  type LeafPage,
  type LeafRow,
  type LeafSpan,
  readNextLeaves,
  readNextMatches,
} from './log-export.queries.ts';

export interface ExportOptions {
  tenantId: string;
  filter: LogFilter;
  /** The `leaf_index` of the first row. */
  start: number;
  format: 'ndjson' | 'csv';
}

/**
 * The sequenced rows of the audit log in leaf order, up to the last one that is sequenced at the start; each piece has
 * at most a thousand rows. Between pieces it holds neither a connection nor a snapshot. The next piece is read while
 * the current one is being sent.
 */
export async function* exportLog(
  db: Database,
  { tenantId, filter, start, format }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const isWhole = Object.keys(filter).length === 0 && start === 0 && format === 'ndjson';
  const { end, dropped, hashes } = await inOneMoment(db, async (tx) => {
    const { size: end = 0, dropped = 0 } = (await findLedger(tx, tenantId)) ?? {};
    const hashes = isWhole && dropped > 0 ? await hashesOfDropped(tx, tenantId, dropped) : undefined;
    return { end, dropped, hashes };
  });
  if (format === 'csv') yield csvHeader;
  if (hashes) yield `${JSON.stringify({ dropped, hashes })}\n`;
  const toLine = format === 'csv' ? toCsv : toNdjson;
  for await (const rows of pagesOf(db, tenantId, { filter, from: Math.max(start, dropped), end })) {
    yield rows.map(toLine).join('');
  }
}

async function* pagesOf(db: Database, tenantId: string, span: LeafSpan & { filter: LogFilter }) {
  const { filter, end } = span;
  // Few matches are found by the filter; many are found while reading all leaves.
  const isNarrow = Object.keys(filter).length > 0 && (await countFilteredLogs(db, tenantId, filter)) <= mostCounted;
  const read = async (from: number): Promise<LeafPage> => {
    const page = await (isNarrow ? readNextMatches : readNextLeaves)(db, tenantId, { filter, from, end });
    const { dropped = 0 } = (await findLedger(db, tenantId)) ?? {};
    if (dropped > from) throw droppedMeanwhile();
    return page;
  };
  let reading = span.from < end ? read(span.from) : undefined;
  while (reading) {
    const { rows, next } = await reading;
    reading = next < end ? read(next) : undefined;
    reading?.catch(() => undefined); // thrown when awaited; a consumer that stops early never awaits it
    yield rows;
  }
}

function droppedMeanwhile(): ServiceError {
  return new ServiceError('unavailable', 'Retention dropped rows that were yet to be exported; begin again');
}

function toCsv(row: LeafRow): string {
  return toCsvLine({ ...withoutDetail(row), detail: row.detail });
}

function toNdjson(row: LeafRow): string {
  const text = JSON.stringify(withoutDetail(row));
  return row.detail === null ? `${text}\n` : `${text.slice(0, -1)},"detail":${row.detail}}\n`;
}

function withoutDetail(row: LeafRow) {
  const { leaf_version, leaf_index, leaf_hash } = row;
  return { ...presentLog({ ...row, detail: null }), leaf_version, leaf_index, leaf_hash };
}
