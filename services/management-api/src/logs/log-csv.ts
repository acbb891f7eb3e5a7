import { logColumns } from '@sluice/audit';

const header = [
  ...logColumns.map((name) => (name === 'at' ? 'created_at' : name)),
  'leaf_version',
  'leaf_index',
  'leaf_hash',
];

/** Spreadsheets run such a cell as a formula, some only after trimming it. */
const formula = /^[\s\p{C}]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]|^[\t\r\n]/u;

export const csvHeader = `${header.join(',')}\r\n`;

/** RFC 4180; unset members are empty. */
export function toCsvLine(row: Record<string, unknown>): string {
  return `${header.map((name) => toCell(row[name])).join(',')}\r\n`;
}

/** Texts are quoted. A leading apostrophe keeps spreadsheets from running a text as a formula. */
function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formula.test(String(value)) ? `'${value}` : String(value);
  return `"${text.replaceAll('"', '""')}"`;
}
