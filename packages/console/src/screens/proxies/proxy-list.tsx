import type { Proxy as ProxyResource } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { List, ListPage, NameFilter } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const route = getRouteApi('/proxies');

const columns: readonly Column<ProxyResource>[] = [
  {
    title: 'Name',
    cell: ({ id, name, former_application_id: former }) => (
      <>
        <Link to="/proxies/$id" params={{ id }}>
          {name}
        </Link>{' '}
        {former && <Badge tone="bad">Application deleted</Badge>}
      </>
    ),
  },
  { title: 'Destination', cell: ({ destination_url: url }) => <code>{url}</code> },
  {
    title: 'Transforms',
    from: 46,
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
    cell: ({ require_auth }) =>
      require_auth ? <Badge tone="good">with a key</Badge> : <Badge tone="warn">anybody</Badge>,
  },
  {
    title: 'Changed',
    from: 46,
    tight: true,
    cell: ({ modified_at, created_at }) => <Time at={modified_at ?? created_at} />,
  },
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
  const { page, name } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['proxies', { page, name }],
    queryFn: ({ signal }) => sluice.proxies.list({ ...(name && { name }) }, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <NameFilter name={name} onName={(text) => navigate({ search: text ? { name: text } : {} })} />
      <List
        label="Proxies"
        columns={columns}
        query={query}
        onPage={(to) => navigate({ search: (former) => ({ ...former, page: to }) })}
        empty={
          <Empty icon="proxies" title={name ? 'No Proxy has this name' : 'No Proxies yet'}>
            Create one for each destination that needs values. Callers send tokens to it, and it forwards the values.
          </Empty>
        }
      />
    </>
  );
}
