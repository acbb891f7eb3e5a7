import { SluiceError } from '@sluice/sdk';

/** Spreadsheets run such a cell as a formula, some only after trimming it. The export of the audit log has the same rule. */
const formula = /^[\s\p{C}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/u;

/** The columns of a row by name, the same for each row. Objects are written as JSON. */
export type CsvCells = Readonly<Record<string, unknown>>;

/** RFC 4180. Texts are quoted, and a leading apostrophe keeps spreadsheets from running one as a formula. Unset cells are empty. */
export function toCsvLine(cells: readonly unknown[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

/** Names of members, unquoted as in the export of the audit log. */
function toHeader(cells: CsvCells): string {
  return `${Object.keys(cells).join(',')}\r\n`;
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

export const mostCsvRows = 10_000;

/** Of a page. Where rows are large, the service refuses a page of many (413), so fewer are asked for. */
const pageSizes = [100, 20, 5];
const rowsOfPart = 500;

interface Source<Row> {
  read: (size: number) => AsyncIterable<Row>;
  toCells: (row: Row) => CsvCells;
  onCount: (count: number) => void;
}

export interface CsvFile {
  file: Blob;
  count: number;
  /** There are more rows than {@link mostCsvRows}. */
  isCut: boolean;
}

/** Reads page after page. Only the text of finished parts is kept, in blobs, which browsers move out of memory. */
export async function collectCsv<Row>(source: Source<Row>, [size = 100, ...smaller] = pageSizes): Promise<CsvFile> {
  try {
    return await collect(source, size);
  } catch (error) {
    const isTooLarge = error instanceof SluiceError && error.status === 413;
    if (!isTooLarge || smaller.length === 0) throw error;
    return collectCsv(source, smaller);
  }
}

async function collect<Row>({ read, toCells, onCount }: Source<Row>, size: number): Promise<CsvFile> {
  const parts: Blob[] = [];
  let lines: string[] = [];
  let count = 0;
  const finish = (isCut: boolean) => ({ file: new Blob([...parts, ...lines], { type: 'text/csv' }), count, isCut });
  for await (const row of read(size)) {
    if (count === mostCsvRows) return finish(true);
    const cells = toCells(row);
    if (count === 0) lines.push(toHeader(cells));
    lines.push(toCsvLine(Object.values(cells)));
    count += 1;
    if (lines.length >= rowsOfPart) {
      parts.push(new Blob(lines));
      lines = [];
    }
    if (count % size === 0) onCount(count);
  }
  return finish(false);
}
