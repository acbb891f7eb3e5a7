import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import styles from './table.module.css';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** In rem. The column is left out while the table is narrower. */
  from?: 32 | 46 | 54;
  /** For numbers and for buttons, which are not broken into lines. */
  atEnd?: boolean;
  /** For what must not be broken into lines. */
  tight?: boolean;
  /** Of a steady table. */
  width?: string;
}

export interface TableProps<Row> {
  /** What the rows are, for who cannot see the table. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Columns keep their `width` and rows their height, so that nothing moves when rows are added. */
  steady?: boolean;
}

/** Rows of the same kind. It scrolls sideways where it is wider than the window. */
export function Table<Row>({ label, columns, rows, keyOf, steady = false }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element of this role is for forms
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that it can be scrolled by the keyboard
    <div className={styles.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={`${styles.table} ${steady ? styles.steady : ''}`}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={classOf(column)} style={{ width: column.width }}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>({ from, atEnd, tight }: Column<Row>): string {
  return [from && styles[`from${from}`], atEnd && styles.end, tight && styles.tight].filter(Boolean).join(' ');
}

export interface PagingProps {
  pagination: { total_items?: number; page_number?: number; page_size?: number; total_pages?: number };
  onPage: (page: number) => void;
}

/** Which part of a list is shown, and the way to the others. */
export function Paging({ pagination, onPage }: PagingProps) {
  const { total_items: total = 0, page_number: page = 1, page_size: size = 20, total_pages: pages = 1 } = pagination;
  const count = new Intl.NumberFormat();
  const from = (page - 1) * size + 1;
  return (
    <nav className={styles.paging} aria-label="Pages">
      <span>
        {total === 0
          ? 'None'
          : `${count.format(from)}–${count.format(Math.min(page * size, total))} of ${count.format(total)}`}
      </span>
      {pages > 1 && (
        <div>
          <Button small icon="left" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            Previous
          </Button>
          <Button small disabled={page >= pages} onClick={() => onPage(page + 1)}>
            Next
          </Button>
        </div>
      )}
    </nav>
  );
}

interface CursorPagingProps {
  /** Where the next page begins, as the list answers it. */
  next: string | undefined;
  onNext: (start: string) => void;
  /** Set while the former list is still shown, because its cursor is invalid with other filters. */
  isFormer?: boolean;
  /** Absent on the first page. */
  onFirst?: (() => void) | undefined;
}

/** The same for lists by cursor, which have no totals. */
export function CursorPaging({ next, onNext, onFirst, isFormer = false }: CursorPagingProps) {
  if (!next && !onFirst) return null;
  return (
    <nav className={styles.paging} aria-label="Pages">
      <span>Newest first</span>
      <div>
        <Button small disabled={!onFirst} onClick={onFirst}>
          First page
        </Button>
        <Button small disabled={!next || isFormer} onClick={() => next && onNext(next)}>
          Next
        </Button>
      </div>
    </nav>
  );
}
