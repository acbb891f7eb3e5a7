import type { Proxy as ProxyResource } from '@sluice/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { byName, changedColumn, createdColumn, List } from '../../ui/list.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';

const route = getRouteApi('/proxies');

const columns: readonly Column<ProxyResource>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name, former_application_id: former }) => (
      <>
        <Link to="/proxies/$id" params={{ id }}>
          <Cut>{name}</Cut>
        </Link>{' '}
        {former && <Badge tone="bad">Application deleted</Badge>}
      </>
    ),
  },
  { title: 'Destination', width: '38%', cell: ({ destination_url: url }) => <code>{url && <Cut>{url}</Cut>}</code> },
  {
    title: 'Transforms',
    from: 54,
    width: '8rem',
    cell: ({ request_transform: request, response_transform: response }) =>
      request || response ? (
        [request && 'request', response && 'response'].filter(Boolean).join(', ')
      ) : (
        <Soft>none</Soft>
      ),
  },
  {
    title: 'Callers',
    from: 46,
    tight: true,
    width: '7.5rem',
    cell: ({ require_auth }) =>
      require_auth ? <Badge tone="good">with a key</Badge> : <Badge tone="warn">anybody</Badge>,
  },
  changedColumn,
  createdColumn,
];

export function ProxyList() {
  return (
    <ListPage
      title="Proxies"
      intro="A Proxy forwards requests to one destination and replaces tokens with their values."
      needs="proxy:read"
      acts={
        <LinkButton to="/proxies/new" kind="primary" icon="plus" needs="proxy:create">
          New Proxy
        </LinkButton>
      }
    >
      <Proxies />
    </ListPage>
  );
}

function Proxies() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Proxies"
      queryKey={['proxies']}
      search={search}
      onSearch={(changed, options) => navigate({ search: changed, ...options })}
      filters={byName}
      read={(query, options) => sluice.proxies.list(query, options)}
      columns={columns}
      csv={({ id, name, destination_url, path_name, require_auth, created_at, modified_at }) => ({
        ...{ id, name, destination_url, path_name, require_auth, created_at, modified_at },
      })}
      empty={
        <Empty icon="proxies" title="No Proxies yet">
          Create one for each destination that needs values. Callers send tokens to it, and it forwards the values.
        </Empty>
      }
    />
  );
}
