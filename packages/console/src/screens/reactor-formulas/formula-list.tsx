import type { ReactorFormula } from '@sluice/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Soft } from '../../ui/layout.tsx';
import { byName, changedColumn, createdColumn, List } from '../../ui/list.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { ReactorTabs } from '../reactors/reactor-tabs.tsx';

const route = getRouteApi('/reactors/formulas');

const columns: readonly Column<ReactorFormula>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name }) => (
      <Link to="/reactors/formulas/$id" params={{ id }}>
        <Cut>{name}</Cut>
      </Link>
    ),
  },
  {
    title: 'Description',
    width: '30%',
    cell: ({ description }) => (description ? <Cut>{description}</Cut> : <Soft>none</Soft>),
  },
  { title: 'Configuration', from: 54, width: '14%', cell: ({ configuration }) => <Names members={configuration} /> },
  {
    title: 'Arguments',
    from: 54,
    width: '14%',
    cell: ({ request_parameters: parameters }) => <Names members={parameters} />,
  },
  changedColumn,
  createdColumn,
];

function Names({ members }: { members: readonly { name: string }[] }) {
  if (members.length === 0) return <Soft>none</Soft>;
  return <code>{members.map(({ name }) => name).join(', ')}</code>;
}

export function FormulaList() {
  return (
    <ListPage
      title="Formulas"
      intro="A formula is code that several Reactors run, each with its own configuration."
      needs="reactor:read"
      tabs={<ReactorTabs />}
      acts={
        <LinkButton to="/reactors/formulas/new" kind="primary" icon="plus" needs="reactor:create">
          New formula
        </LinkButton>
      }
    >
      <Formulas />
    </ListPage>
  );
}

function Formulas() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Formulas"
      queryKey={['formulas']}
      search={search}
      onSearch={(changed, options) => navigate({ search: changed, ...options })}
      filters={byName}
      read={(query, options) => sluice.reactorFormulas.list(query, options)}
      columns={columns}
      csv={({ id, name, description, created_at, modified_at }) => ({
        ...{ id, name, description, created_at, modified_at },
      })}
      empty={
        <Empty icon="reactors" title="No formulas yet">
          Create one if several Reactors should run the same code. If you change the formula, all these Reactors run the
          new code.
        </Empty>
      }
    />
  );
}
