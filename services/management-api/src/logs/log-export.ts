import { logColumns, presentLog } from '@sluice/audit';
import type { Database } from '@sluice/database';
import { FairTurns } from '@sluice/fair-turns';
import { findLedger, inOneMoment } from './ledger.queries.ts';
import { countFilteredLogs, type LogFilter, mostCounted } from './log.queries.ts';
import {
  hashesOfDropped,
  type LeafPage,
  type LeafRow,
  type LeafSpan,
  pageRows,
  readNextLeaves,
  readNextMatches,
} from './log-export.queries.ts';

export interface ExportOptions {
  tenantId: string;
  filter: LogFilter;
  start: number;
  format: 'ndjson' | 'csv';
  inTurn?: InTurn;
}

type InTurn = <T>(read: () => Promise<T>) => Promise<T>;

const csvMembers = [
  ...logColumns.map((name) => (name === 'at' ? 'created_at' : name)),
  'leaf_version',
  'leaf_index',
  'leaf_hash',
];

/** Spreadsheets run such a cell as a formula, some only after trimming it. */
const formula = /^[\s\p{C}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/u;

const csvHeader = `${csvMembers.join(',')}\r\n`;

/** By default two reads run at a time, as many as one export can use. Tenants take turns. */
export function exportTurnsFrom({ DATABASE_POOL_SIZE }: { DATABASE_POOL_SIZE: number }): FairTurns {
  return new FairTurns({ atOnce: Math.max(1, Math.floor(DATABASE_POOL_SIZE / 4)) });
}

/**
 * In leaf order, up to the last row that existed at the start. Between pieces it holds neither a connection nor a
 * snapshot.
 */
export async function* exportLog(
  db: Database,
  { tenantId, filter, start, format, inTurn = (read) => read() }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const isWhole = Object.keys(filter).length === 0 && start === 0 && format === 'ndjson';
  const { end, dropped, hashes } = await inTurn(() =>
    inOneMoment(db, async (tx) => {
      const { size: end = 0, dropped = 0 } = (await findLedger(tx, tenantId)) ?? {};
      const hashes = isWhole && dropped > 0 ? await hashesOfDropped(tx, tenantId, dropped) : undefined;
      return { end, dropped, hashes };
    }),
  );
  if (format === 'csv') yield csvHeader;
  if (hashes) yield `${JSON.stringify({ dropped, hashes })}\n`;
  const toLine = format === 'csv' ? toCsv : toNdjson;
  const span = { filter, from: Math.max(start, dropped), end, inTurn };
  for await (const rows of pagesOf(db, tenantId, span)) {
    yield rows.map(toLine).join('');
  }
}

async function* pagesOf(
  db: Database,
  tenantId: string,
  { filter, end, inTurn, ...span }: LeafSpan & { filter: LogFilter; inTurn: InTurn },
) {
  // Whether the filter finds few matches; if many, all leaves are read
  const isFiltered = Object.keys(filter).length > 0;
  const isNarrow = isFiltered && (await inTurn(() => countFilteredLogs(db, tenantId, filter))) <= mostCounted;
  let isOver = false;
  let most = pageRows;
  const begin = (from: number): Promise<LeafPage> => {
    const options = { filter, from, end, most };
    const page = inTurn(async () => {
      if (isOver) return { rows: [], next: end };
      return (isNarrow ? readNextMatches : readNextLeaves)(db, tenantId, options);
    });
    page.catch(() => undefined); // thrown when awaited; a consumer that stops early never awaits it
    return page;
  };
  let readings: Promise<LeafPage>[] = [];
  try {
    for (let from = span.from; from < end; ) {
      const { rows, next } = await (readings.shift() ?? begin(from));
      // Postgres formats all details that may be on the page, so fewer rows are requested if they are large
      most = Math.min(pageRows, 2 * (isNarrow ? rows.length : next - from));
      // The leaves of later pages are known, unless rows are large or found by the filter
      const isKnown = !isNarrow && next === from + pageRows;
      if (!isKnown) readings = [];
      for (
        let at = next + readings.length * pageRows;
        readings.length < (isKnown ? 2 : 1) && at < end;
        at += pageRows
      ) {
        readings.push(begin(at));
      }
      yield rows;
      from = next;
    }
  } finally {
    isOver = true;
    await Promise.allSettled(readings); // no statement outlives the export
  }
}

/** RFC 4180; unset members are empty. */
function toCsv({ log, ...of }: LeafRow): string {
  const row: Record<string, unknown> = { ...presentLog(log), ...of };
  return `${csvMembers.map((name) => toCell(row[name])).join(',')}\r\n`;
}

/** Texts are quoted. A leading apostrophe keeps spreadsheets from running a text as a formula. */
function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formula.test(String(value)) ? `'${value}` : String(value);
  return `"${text.replaceAll('"', '""')}"`;
}

function toNdjson({ log, detail, leaf_version, leaf_index, leaf_hash }: LeafRow): string {
  const text = JSON.stringify(presentLog(log)).slice(0, -1);
  const place = `"leaf_version":${leaf_version},"leaf_index":${leaf_index},"leaf_hash":"${leaf_hash}"`;
  return detail === null ? `${text},${place}}\n` : `${text},${place},"detail":${detail}}\n`;
}
