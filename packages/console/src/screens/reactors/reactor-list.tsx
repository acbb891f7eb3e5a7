import type { Reactor } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Soft } from '../../ui/layout.tsx';
import { List, ListPage, NameFilter } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ReactorTabs } from './reactor-tabs.tsx';

const route = getRouteApi('/reactors');

const columns: readonly Column<Reactor>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/reactors/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Runs', cell: ({ formula_id }) => <Runs formulaId={formula_id} /> },
  {
    title: 'Application',
    from: 46,
    cell: ({ application_id }) => (application_id ? <code>{application_id}</code> : <Soft>none</Soft>),
  },
  {
    title: 'Changed',
    from: 46,
    tight: true,
    cell: ({ modified_at, created_at }) => <Time at={modified_at ?? created_at} />,
  },
];

function Runs({ formulaId }: { formulaId: string | undefined }) {
  if (formulaId === undefined) return 'its own code';
  return (
    <Link to="/reactors/formulas/$id" params={{ id: formulaId }}>
      a formula
    </Link>
  );
}

export function ReactorList() {
  return (
    <ListPage
      title="Reactors"
      intro="A Reactor is your code, which callers run directly, with values in place of tokens. It may call other services, and its results may become tokens."
      needs="reactor:read"
      tabs={<ReactorTabs />}
      acts={
        <LinkButton to="/reactors/new" kind="primary" icon="plus" needs="reactor:create">
          New Reactor
        </LinkButton>
      }
    >
      <Reactors />
    </ListPage>
  );
}

function Reactors() {
  const { page, name } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['reactors', { page, name }],
    queryFn: ({ signal }) => sluice.reactors.list({ ...(name && { name }) }, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <NameFilter name={name} onName={(text) => navigate({ search: text ? { name: text } : {} })} />
      <List
        label="Reactors"
        columns={columns}
        query={query}
        onPage={(to) => navigate({ search: (former) => ({ ...former, page: to }) })}
        empty={
          <Empty icon="reactors" title={name ? 'No Reactor has this name' : 'No Reactors yet'}>
            Create one for work that needs values but not a single destination: checks, lookups, files.
          </Empty>
        }
      />
    </>
  );
}
