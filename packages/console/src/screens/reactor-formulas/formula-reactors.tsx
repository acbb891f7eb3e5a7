import type { Reactor } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Card } from '../../ui/layout.tsx';
import { List } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const route = getRouteApi('/reactors/formulas/$id');

const columns: readonly Column<Reactor>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/reactors/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Changed',
    from: 32,
    tight: true,
    cell: ({ modified_at, created_at }) => <Time at={modified_at ?? created_at} />,
  },
];

export function FormulaReactors({ formulaId }: { formulaId: string }) {
  const { page } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['reactors', { formulaId, page }],
    queryFn: ({ signal }) => sluice.reactors.list({ formula_id: formulaId, size: 10 }, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title="Reactors that run it"
      intro="When you save a change of the formula, each of them runs the new code."
      acts={
        <LinkButton small to="/reactors/new" search={{ formula: formulaId }} icon="plus" needs="reactor:create">
          New Reactor
        </LinkButton>
      }
      flush
    >
      <List
        label="Reactors that run it"
        columns={columns}
        query={query}
        onPage={(to) => navigate({ search: { page: to }, resetScroll: false })}
        empty={<Empty icon="reactors" title="No Reactor runs it" />}
      />
    </Card>
  );
}
