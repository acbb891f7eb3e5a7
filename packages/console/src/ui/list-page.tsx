import type { PermissionName } from '@sluice/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Filters, Find } from './filters.tsx';
import { Card, Page } from './layout.tsx';
import { Guarded, Loaded } from './states.tsx';
import { Paging, type PagingProps, Table, type TableProps } from './table.tsx';

interface ListPageProps {
  /** What the rows are. */
  title: string;
  intro: string;
  needs: PermissionName;
  /** Between the heading and the list. */
  tabs?: ReactNode;
  acts?: ReactNode;
  /** A component, so that nothing is asked for without the right. */
  children: ReactNode;
}

export function ListPage({ title, intro, needs, tabs, acts, children }: ListPageProps) {
  return (
    <Page title={title} intro={intro} acts={acts}>
      {tabs}
      <Card flush>
        <Guarded needs={needs} what={`You cannot see ${title}`}>
          {children}
        </Guarded>
      </Card>
    </Page>
  );
}

interface ListProps<Row> extends Pick<TableProps<Row>, 'label' | 'columns'> {
  query: UseQueryResult<{ data: readonly Row[]; pagination: PagingProps['pagination'] }>;
  onPage: (page: number) => void;
  /** In place of a list without rows. */
  empty: ReactNode;
}

/** One page of a list that has totals, and the way to its other pages. */
export function List<Row extends { id: string }>({ label, columns, query, onPage, empty }: ListProps<Row>) {
  return (
    <Loaded query={query}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          empty
        ) : (
          <>
            <Table label={label} columns={columns} rows={data} keyOf={({ id }) => id} />
            <Paging pagination={pagination} onPage={onPage} />
          </>
        )
      }
    </Loaded>
  );
}

/** The filter of a list that is searched by name alone. */
export function NameFilter({ name = '', onName }: { name: string | undefined; onName: (name: string) => void }) {
  return (
    <Filters>
      <Find label="Name" value={name} placeholder="Part of a name, or with *" onValue={onName} />
    </Filters>
  );
}
