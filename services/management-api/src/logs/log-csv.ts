import { logColumns } from '@sluice/audit';

/** The members of an exported row, in their order as columns. */
const header = [
  ...logColumns.map((name) => (name === 'at' ? 'created_at' : name)),
  'leaf_version',
  'leaf_index',
  'leaf_hash',
];

/** What spreadsheets take for the beginning of a formula, also after they have trimmed the cell. */
const formula = /^[\s\p{C}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/u;

/** The first line: RFC 4180 with a header. */
export const csvHeader = `${header.join(',')}\r\n`;

/** A row as a line of RFC 4180: the members in the order of {@link csvHeader}, unset ones empty. */
export function toCsvLine(row: Record<string, unknown>): string {
  return `${header.map((name) => toCell(row[name])).join(',')}\r\n`;
}

/** Texts are quoted, and what a spreadsheet would run is text by its leading apostrophe. */
function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formula.test(String(value)) ? `'${value}` : String(value);
  return `"${text.replaceAll('"', '""')}"`;
}
