import { escapeLine, toSafeJson } from './escape.ts';

const widest = 60;

/** The most useful members come first. Members that are equal in all rows, long, or possibly secret are omitted. */
const firstMembers = [
  ...['id', 'name', 'path_name', 'type', 'state', 'last_four', 'last_used_at'],
  ...['created_at', 'operation', 'message', 'version'],
];
const omitted = new Set([
  ...['tenant_id', 'rules', 'request_transform', 'response_transform', 'modified_by', 'created_by'],
  ...['configuration', 'request_headers'],
]);

/** At most six columns that fit into the width. */
export function toTable(rows: readonly object[], width = Number.POSITIVE_INFINITY): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => !omitted.has(name));
  const rank = (name: string) => (firstMembers.indexOf(name) + firstMembers.length + 1) % (firstMembers.length + 1);
  const columns = names.sort((a, b) => rank(a) - rank(b)).slice(0, 6);
  const cells = rows.map((row) => columns.map((name) => cell((row as Record<string, unknown>)[name])));
  const table = [columns.map((name) => escapeLine(name.toUpperCase())), ...cells];
  return align(table.map((row) => row.slice(0, countFitting(table, width))));
}

export function toMembers(thing: object): string {
  return align(Object.entries(thing).map(([name, value]) => [escapeLine(name), whole(value)]));
}

function countFitting(table: readonly (readonly string[])[], width: number): number {
  let used = 0;
  const fitting = widthsOf(table).filter((column, index) => {
    used += column + (index > 0 ? 2 : 0);
    return used <= width;
  });
  return Math.max(1, fitting.length);
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length)));
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows
    .map((row) =>
      row
        .map((text, column) => text + ' '.repeat((widths[column] ?? 0) - [...text].length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cell(value: unknown): string {
  const text = whole(value);
  return [...text].length > widest ? `${[...text].slice(0, widest - 1).join('')}…` : text;
}

function whole(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? escapeLine(value) : toSafeJson(value);
}
