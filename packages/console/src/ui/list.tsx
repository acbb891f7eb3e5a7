import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type ListSearch, pageSizes } from '../app/page-search.ts';
import { Button } from './button.tsx';
import { type CsvCells, collectCsv, mostCsvRows } from './csv.ts';
import { CsvDownload } from './csv-download.tsx';
import { Filters, Find, Moment, Pick } from './filters.tsx';
import { Empty, Loaded } from './states.tsx';
import { type Column, Paging, type PagingProps, Table } from './table.tsx';
import { Time } from './time.tsx';

/** A list of the client library. */
interface Rows<Row> extends AsyncIterable<Row> {
  page(position?: number): Promise<{ data: readonly Row[]; pagination: PagingProps['pagination'] }>;
}

export interface Filter {
  label: string;
  placeholder?: string;
  /** Names by value, of a filter with few values. */
  options?: Readonly<Record<string, string>>;
  isMoment?: boolean;
}

type FilterName<Search> = Exclude<keyof Search, keyof ListSearch> & string;
/** `page` is asked for apart. */
type Query<Search> = Omit<Search, 'page'> & { size: number };

interface ListProps<Row, Search extends ListSearch> {
  /** What the rows are, for example `Applications`. */
  label: string;
  queryKey: readonly unknown[];
  /** The address: filters, order and page. A change of a filter replaces the entry of the browser's history. */
  search: Search;
  onSearch: (search: Search, options: { replace: boolean; resetScroll: boolean }) => void;
  filters?: Readonly<Record<FilterName<Search>, Filter>>;
  read: (query: Query<Search>, options: { signal: AbortSignal }) => Rows<Row>;
  columns: readonly Column<Row>[];
  /** The columns of the file. Without them there is none. */
  csv?: (row: Row) => CsvCells;
  /** In place of a list that has no rows, whatever its filters. */
  empty: ReactNode;
  /** How the filters compare, for who finds nothing. */
  hint?: string;
}

const [defaultSize] = pageSizes;

/** A list with its filters, its order and its pages, all in the address. */
export function List<Row extends { id: string }, Search extends ListSearch>(props: ListProps<Row, Search>) {
  const { label, queryKey, search, onSearch, read, columns, csv, empty, hint } = props;
  const { page, ...rest } = search;
  const query: Query<Search> = { ...rest, size: search.size ?? defaultSize };
  const answer = useQuery({
    queryKey: [...queryKey, 'list', query, page],
    queryFn: ({ signal }) => read(query, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  const filters = Object.entries<Filter>(props.filters ?? {}).map(([name, filter]) => ({
    ...filter,
    name,
    value: String(search[name as keyof Search] ?? ''),
  }));
  const set = filters.filter(({ value }) => value !== '');
  /** Undefined takes a member out of the address. The first page of the new list is shown. */
  const change = (members: object, replace = false) => {
    const changed = Object.entries({ ...rest, ...members }).filter(([, value]) => value !== undefined && value !== '');
    onSearch(Object.fromEntries(changed) as Search, { replace, resetScroll: false });
  };
  const clear = () => change(Object.fromEntries(filters.map(({ name }) => [name, undefined])), true);
  const total = answer.data?.pagination.total_items ?? 0;
  const collect = csv && {
    collect: async ({ signal, onProgress }: CollectOptions) => {
      const { file, count, isCut } = await collectCsv({
        read: (size) => read({ ...query, size }, { signal }),
        toCells: csv,
        onCount: (read) => onProgress(`${number.format(read)} of ${number.format(Math.min(total, mostCsvRows))}`),
      });
      return {
        file,
        said: `${number.format(count)} ${count === 1 ? 'row was' : 'rows were'} saved`,
        missing: isCut
          ? `The list has ${number.format(total)} rows, and a file has at most ${number.format(mostCsvRows)}. Set a filter to get the other rows.`
          : undefined,
      };
    },
  };
  return (
    <>
      {(filters.length > 0 || (collect && total > 0)) && (
        <Filters
          label={label}
          onClear={set.length > 0 ? clear : undefined}
          acts={collect && total > 0 && <CsvDownload small name={fileName(label)} {...collect} />}
        >
          {filters.map(({ name, ...filter }) => (
            <FilterField key={name} {...filter} onValue={(value) => change({ [name]: value }, true)} />
          ))}
        </Filters>
      )}
      <Loaded query={answer}>
        {({ data, pagination }) => {
          const { total_pages: last = 1 } = pagination;
          if (data.length === 0 && page !== undefined && last > 0) {
            return (
              <Empty
                icon="search"
                title={`There is no page ${number.format(page)}`}
                acts={<Button onClick={() => change({ page: last > 1 ? last : undefined })}>Go to page {last}</Button>}
              >
                The last page is {number.format(last)}.
              </Empty>
            );
          }
          if (data.length === 0 && set.length > 0) {
            return (
              <Empty
                icon="search"
                title={`No ${label} match`}
                acts={<Button onClick={clear}>Clear the filters</Button>}
              >
                Filtered by {set.map(inWords).join(' and ')}. {hint}
              </Empty>
            );
          }
          if (data.length === 0) return empty;
          return (
            <>
              <Table
                label={label}
                columns={columns}
                rows={data}
                keyOf={({ id }) => id}
                stacks
                isFormer={answer.isPlaceholderData}
                sort={search.sort}
                onSort={(sort) => change({ sort })}
              />
              <Paging
                label={label}
                pagination={pagination}
                onPage={(to) => onSearch({ ...search, page: to }, { replace: false, resetScroll: true })}
                onSize={(size) => change({ size: size === defaultSize ? undefined : size })}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

interface CollectOptions {
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

const number = new Intl.NumberFormat();
const all = 'all';

const fileName = (label: string) => `sluice-${label.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;

const inWords = ({ label, value, options }: Filter & { value: string }) => `${label} “${options?.[value] ?? value}”`;

interface FilterFieldProps extends Filter {
  value: string;
  /** Empty for none. */
  onValue: (value: string) => void;
}

function FilterField({ label, placeholder, options, isMoment, value, onValue }: FilterFieldProps) {
  if (isMoment) return <Moment label={label} value={value || undefined} onValue={(moment) => onValue(moment ?? '')} />;
  if (!options) return <Find live label={label} value={value} placeholder={placeholder} onValue={onValue} />;
  return (
    <Pick
      label={label}
      value={value || all}
      options={{ [all]: 'All', ...options }}
      onValue={(chosen) => onValue(chosen === all ? '' : chosen)}
    />
  );
}

/** The filter of lists of people. */
export const byEmail = { email: { label: 'E-mail', placeholder: 'Part, or a pattern with *' } } as const;

/** When a row was created, and by which most lists are sorted. */
export const createdColumn: Column<{ created_at?: string }> = {
  title: 'Created',
  sort: 'created_at',
  from: 46,
  tight: true,
  width: '9.5rem',
  cell: ({ created_at: at }) => at && <Time at={at} />,
};

/** When a row was changed last. */
export const changedColumn: Column<{ created_at?: string; modified_at?: string }> = {
  title: 'Changed',
  from: 72,
  tight: true,
  width: '9.5rem',
  cell: ({ created_at: created, modified_at: at = created }) => at && <Time at={at} />,
};

/** The filter by name, of most lists. */
export const byName = { name: { label: 'Name', placeholder: 'Part, or a pattern with *' } } as const;
