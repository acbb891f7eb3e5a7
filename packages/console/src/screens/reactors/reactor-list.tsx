import type { Reactor } from '@sluice/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Soft } from '../../ui/layout.tsx';
import { byName, changedColumn, createdColumn, List } from '../../ui/list.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { ReactorTabs } from './reactor-tabs.tsx';

const route = getRouteApi('/reactors');

const columns: readonly Column<Reactor>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name }) => (
      <Link to="/reactors/$id" params={{ id }}>
        <Cut>{name}</Cut>
      </Link>
    ),
  },
  { title: 'Runs', width: '9rem', cell: ({ formula_id }) => <Runs formulaId={formula_id} /> },
  {
    title: 'Application',
    from: 46,
    width: '32%',
    cell: ({ application_id }) => (application_id ? <code>{application_id}</code> : <Soft>none</Soft>),
  },
  changedColumn,
  createdColumn,
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
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Reactors"
      queryKey={['reactors']}
      search={search}
      onSearch={(changed, options) => navigate({ search: changed, ...options })}
      filters={byName}
      read={(query, options) => sluice.reactors.list(query, options)}
      columns={columns}
      csv={({ id, name, formula_id, application_id, created_at, modified_at }) => ({
        ...{ id, name, formula_id, application_id, created_at, modified_at },
      })}
      empty={
        <Empty icon="reactors" title="No Reactors yet">
          Create a Reactor for work that needs values, but is not just a call to one destination. Examples of such work
          are checks, lookups and files.
        </Empty>
      }
    />
  );
}
