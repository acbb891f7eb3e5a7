import type { DescribedToken } from '@sluice/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { List } from '../../ui/list.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Metadata } from './token-metadata.tsx';
import { queryOf, tokenTypes } from './token-search.ts';
import styles from './tokens.module.css';

const route = getRouteApi('/tokens');

const columns: readonly Column<DescribedToken>[] = [
  {
    title: 'Id',
    width: '33%',
    cell: ({ id }) => (
      <Link to="/tokens/$id" params={{ id }} className={styles.id}>
        <code>{id}</code>
      </Link>
    ),
  },
  { title: 'Type', width: '8rem', cell: ({ type }) => tokenTypes[type] },
  { title: 'Containers', from: 32, width: '10rem', cell: ({ containers }) => <code>{containers.join(' ')}</code> },
  { title: 'Metadata', from: 46, cell: ({ metadata }) => <Metadata metadata={metadata} /> },
  { title: 'Created', from: 46, tight: true, width: '9.5rem', cell: ({ created_at }) => <Time at={created_at} /> },
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
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Tokens"
      queryKey={['tokens']}
      search={search}
      onSearch={(changed, options) => navigate({ search: changed, ...options })}
      filters={filters}
      read={({ size, ...filtered }, options) => {
        const query = queryOf(filtered);
        return query === undefined
          ? sluice.tokens.list({ size }, options)
          : sluice.tokens.search({ query, size }, options);
      }}
      columns={columns}
      csv={({ id, type, containers, metadata, created_at, modified_at, expires_at }) => ({
        ...{ id, type, containers: containers.join(' '), metadata, created_at, modified_at, expires_at },
      })}
      hint="Id, container and metadata must match exactly. /pci/* matches all containers below /pci/."
      empty={
        <Empty icon="tokens" title="No tokens yet">
          Servers create tokens with a key that has token:create. Browsers create tokens with the hosted fields.
        </Empty>
      }
    />
  );
}

const filters = {
  type: { label: 'Type', options: tokenTypes },
  from: { label: 'Created from', isMoment: true },
  to: { label: 'Created before', isMoment: true },
  id: { label: 'Id', placeholder: 'Whole id' },
  container: { label: 'Container', placeholder: '/pci/ or /pci/*' },
  metadata: { label: 'Metadata', placeholder: 'customer=c-1042' },
} as const;
