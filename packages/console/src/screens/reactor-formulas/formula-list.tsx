import type { ReactorFormula } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Soft } from '../../ui/layout.tsx';
import { List, ListPage, NameFilter } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ReactorTabs } from '../reactors/reactor-tabs.tsx';

const route = getRouteApi('/reactors/formulas');

const columns: readonly Column<ReactorFormula>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/reactors/formulas/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Description', cell: ({ description }) => description || <Soft>none</Soft> },
  { title: 'Configuration', from: 46, cell: ({ configuration }) => <Names members={configuration} /> },
  { title: 'Arguments', from: 54, cell: ({ request_parameters: parameters }) => <Names members={parameters} /> },
  {
    title: 'Changed',
    from: 46,
    tight: true,
    cell: ({ modified_at, created_at }) => <Time at={modified_at ?? created_at} />,
  },
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
  const { page, name } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['formulas', { page, name }],
    queryFn: ({ signal }) => sluice.reactorFormulas.list({ ...(name && { name }) }, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <NameFilter name={name} onName={(text) => navigate({ search: text ? { name: text } : {} })} />
      <List
        label="Formulas"
        columns={columns}
        query={query}
        onPage={(to) => navigate({ search: (former) => ({ ...former, page: to }) })}
        empty={
          <Empty icon="reactors" title={name ? 'No formula has this name' : 'No formulas yet'}>
            Create one if several Reactors should run the same code. If you change it, all of them run the new code.
          </Empty>
        }
      />
    </>
  );
}
