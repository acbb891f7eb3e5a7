import { stripVTControlCharacters } from 'node:util';

export interface Column {
  title: string;
  lines: readonly string[];
}

export interface ColumnsOptions {
  /** Characters in a line. */
  width: number;
  colour: boolean;
}

const gap = 3;
const narrowest = 30;

/** Side by side, or one below the other where there is not enough space. */
export function formatColumns(columns: readonly Column[], { width, colour }: ColumnsOptions): string {
  const columnWidth = Math.floor((width - gap * (columns.length - 1)) / columns.length);
  if (columnWidth < narrowest)
    return columns.map((column) => formatColumns([column], { width: 79, colour })).join('\n\n');
  const title = (text: string) => (colour ? `\x1b[1m${text}\x1b[0m` : text);
  const cells = columns.map(({ title: text, lines }) => [
    title(text),
    '─'.repeat(columnWidth),
    ...lines.flatMap((line) => wrap(line, columnWidth)),
  ]);
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    cells
      .map((lines) => pad(lines[row] ?? '', columnWidth))
      .join(' '.repeat(gap))
      .trimEnd(),
  ).join('\n');
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stripVTControlCharacters(text).length));
}

function wrap(line: string, width: number): string[] {
  const pieces: string[] = [];
  for (let rest = line; ; rest = `  ${rest.slice(width)}`) {
    pieces.push(rest.slice(0, width));
    if (rest.length <= width) return pieces;
  }
}
