import type { DescribedToken } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Filters, Find, Moment, Pick } from '../../ui/filters.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { List, ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { queryOf, type TokenFilters, tokenTypes } from './token-search.ts';
import styles from './tokens.module.css';

const route = getRouteApi('/tokens');

const columns: readonly Column<DescribedToken>[] = [
  {
    title: 'Id',
    cell: ({ id }) => (
      <Link to="/tokens/$id" params={{ id }} className={styles.id}>
        <code>{id}</code>
      </Link>
    ),
  },
  { title: 'Type', tight: true, cell: ({ type }) => <Badge tone="info">{tokenTypes[type]}</Badge> },
  { title: 'Containers', from: 32, tight: true, cell: ({ containers }) => <code>{containers.join(' ')}</code> },
  { title: 'Metadata', from: 46, cell: ({ metadata }) => <Metadata metadata={metadata} /> },
  { title: 'Created', from: 46, tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

export function TokenList() {
  return (
    <ListPage
      title="Tokens"
      intro="The tokens in the vault. The console never shows values or masks, in any role."
      needs="application:read"
    >
      <Tokens />
    </ListPage>
  );
}

function Tokens() {
  const { page, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const found = queryOf(filters);
  const query = useQuery({
    queryKey: ['tokens', found, page],
    queryFn: ({ signal }) =>
      (found === undefined
        ? sluice.tokens.list({}, { signal })
        : sluice.tokens.search({ query: found }, { signal })
      ).page(page),
    placeholderData: keepPreviousData,
  });
  const filterBy = (name: keyof TokenFilters) => (value: string | undefined) =>
    navigate({ search: { ...filters, [name]: value === 'all' || value === '' ? undefined : value } });
  return (
    <>
      <Filters>
        <Pick
          label="Type"
          value={filters.type ?? 'all'}
          options={{ all: 'All', ...tokenTypes }}
          onValue={filterBy('type')}
        />
        <Moment label="Created from" value={filters.from} onValue={filterBy('from')} />
        <Moment label="to" value={filters.to} onValue={filterBy('to')} />
        <Find label="Id" value={filters.id ?? ''} placeholder="Whole id" onValue={filterBy('id')} />
        <Find
          label="Container"
          value={filters.container ?? ''}
          placeholder="/pci/ or /pci/*"
          onValue={filterBy('container')}
        />
        <Find
          label="Metadata"
          value={filters.metadata ?? ''}
          placeholder="customer=c-1042"
          onValue={filterBy('metadata')}
        />
        {found !== undefined && (
          <Button small onClick={() => navigate({ search: {} })}>
            Clear
          </Button>
        )}
      </Filters>
      <List
        label="Tokens"
        columns={columns}
        query={query}
        onPage={(to) => navigate({ search: { ...filters, page: to } })}
        empty={
          <Empty icon="tokens" title={found === undefined ? 'No tokens yet' : 'No token matches'}>
            {found === undefined
              ? 'Servers create them with a key that has token:create, browsers with the hosted fields.'
              : 'Id, container and metadata must match exactly. /pci/* matches all containers below /pci/.'}
          </Empty>
        }
      />
    </>
  );
}

export function Metadata({ metadata = {} }: { metadata: DescribedToken['metadata'] | undefined }) {
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return <Soft>none</Soft>;
  return (
    <ul className={styles.pairs}>
      {pairs.map(([name, value]) => (
        <li key={name}>
          <Soft>{name}</Soft> {value}
        </li>
      ))}
    </ul>
  );
}
