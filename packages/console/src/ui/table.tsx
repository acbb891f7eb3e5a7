import type { MouseEvent, ReactNode } from 'react';
import { pageSizes } from '../app/page-search.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import styles from './table.module.css';
import { TimesWithoutTabStop } from './time.tsx';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** What the list is sorted by if its heading is pressed, as the API names it. */
  sort?: 'name' | 'email' | 'created_at';
  /** In rem. The column is left out while the table is narrower. */
  from?: 32 | 46 | 54 | 72;
  /** For numbers and for buttons, which are not broken into lines. */
  atEnd?: boolean;
  /** For what must not be broken into lines. */
  tight?: boolean;
  /** Of a steady table, and of one that stacks. */
  width?: string;
}

export interface TableProps<Row> {
  /** What the rows are, for who cannot see the table. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** A click anywhere in a row opens it. For the keyboard a cell of the row has a link to the same place. */
  onOpen?: (row: Row) => void;
  /** Columns keep their `width` and rows their height, so that nothing moves when rows are added. */
  steady?: boolean;
  /** Columns keep their `width`, and where there is little room the cells of a row are below each other. */
  stacks?: boolean;
  /** The rows are of the former page or filters, until those of the present ones arrive. */
  isFormer?: boolean;
  /** The order of the rows: a member, with `-` in descending order. */
  sort?: string | undefined;
  onSort?: ((sort: string | undefined) => void) | undefined;
}

/** Rows of the same kind. It scrolls sideways where it is wider than the window. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, onOpen, steady = false, stacks = false, isFormer = false, sort, onSort } = props;
  const looks = [styles.table, steady && styles.steady, stacks && styles.stacks, isFormer && styles.former];
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element of this role is for forms
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that it can be scrolled by the keyboard
    <div className={styles.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={looks.filter(Boolean).join(' ')} aria-busy={isFormer}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <TimesWithoutTabStop value={true}>
            {rows.map((row) => (
              <tr
                key={keyOf(row)}
                className={onOpen && styles.opens}
                onClick={onOpen && ((event) => isForRow(event) && onOpen(row))}
              >
                {columns.map((column) => (
                  <td key={column.title} className={classOf(column)} data-title={column.title}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </TimesWithoutTabStop>
        </tbody>
      </table>
    </div>
  );
}

const newestFirst = '-created_at';

interface HeadingProps<Row> extends Pick<TableProps<Row>, 'sort' | 'onSort'> {
  column: Column<Row>;
}

function Heading<Row>({ column, sort = newestFirst, onSort }: HeadingProps<Row>) {
  const { title, width, sort: by } = column;
  if (by === undefined || !onSort) {
    return (
      <th scope="col" className={classOf(column)} style={{ width }}>
        {title}
      </th>
    );
  }
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none';
  const first = by === 'created_at' ? newestFirst : by;
  const next = order === 'none' ? first : order === 'ascending' ? `-${by}` : by;
  return (
    <th scope="col" className={`${classOf(column)} ${styles.sortable}`} style={{ width }} aria-sort={order}>
      <button type="button" onClick={() => onSort(next === newestFirst ? undefined : next)}>
        {title}
        <span className={styles[order]}>
          <Icon name="down" size={14} />
        </span>
      </button>
    </th>
  );
}

/** A long text in two lines at most. Its end is in its title. */
export function Cut({ children }: { children: string }) {
  return (
    <span className={styles.cut} title={children}>
      {children}
    </span>
  );
}

/** Not for a click on something in the row that acts itself, and not for the end of a selection of text. */
function isForRow({ target, currentTarget, defaultPrevented }: MouseEvent<HTMLElement>): boolean {
  if (defaultPrevented || !(target instanceof Element) || !currentTarget.contains(target)) return false;
  return target.closest('a, button, input, select, label') === null && getSelection()?.isCollapsed !== false;
}

function classOf<Row>({ from, atEnd, tight }: Column<Row>): string {
  return [from && styles[`from${from}`], atEnd && styles.end, tight && styles.tight].filter(Boolean).join(' ');
}

export interface PagingProps {
  /** What the rows are, where a screen has several lists. */
  label?: string;
  pagination: { total_items?: number; page_number?: number; page_size?: number; total_pages?: number };
  onPage: (page: number) => void;
  /** Where a person may choose how many rows a page has. */
  onSize?: (size: number) => void;
}

/** Which part of a list is shown, and the way to the others. */
export function Paging({ label, pagination, onPage, onSize }: PagingProps) {
  const { total_items: total = 0, page_number: page = 1, page_size: size = 20, total_pages: pages = 1 } = pagination;
  const count = new Intl.NumberFormat();
  const from = (page - 1) * size + 1;
  return (
    <nav className={styles.paging} aria-label={label ? `Pages of ${label}` : 'Pages'}>
      <span role="status">
        {total === 0
          ? 'None'
          : `${count.format(from)}–${count.format(Math.min(page * size, total))} of ${count.format(total)}`}
      </span>
      <div>
        {onSize && total > pageSizes[0] && (
          <label className={styles.size}>
            Rows
            <select value={size} onChange={(event) => onSize(Number(event.target.value))}>
              {pageSizes.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
        {pages > 1 && (
          <>
            <Button small icon="left" disabled={page <= 1} onClick={() => onPage(page - 1)}>
              Previous
            </Button>
            <Button small disabled={page >= pages} onClick={() => onPage(page + 1)}>
              Next
            </Button>
          </>
        )}
      </div>
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
