import type { Reactor } from '@sluice/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Card } from '../../ui/layout.tsx';
import { List } from '../../ui/list.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const route = getRouteApi('/reactors/formulas/$id');

const columns: readonly Column<Reactor>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/reactors/$id" params={{ id }}>
        <Cut>{name}</Cut>
      </Link>
    ),
  },
  {
    title: 'Changed',
    tight: true,
    width: '9.5rem',
    cell: ({ modified_at, created_at }) => <Time at={modified_at ?? created_at} />,
  },
];

export function FormulaReactors({ formulaId }: { formulaId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Card
      title="Reactors with this formula"
      intro="When you save the formula, all these Reactors run the new code."
      acts={
        <LinkButton small to="/reactors/new" search={{ formula: formulaId }} icon="plus" needs="reactor:create">
          New Reactor
        </LinkButton>
      }
      flush
    >
      <List
        label="Reactors with this formula"
        queryKey={['reactors', { formulaId }]}
        search={search}
        onSearch={(changed, { replace }) => navigate({ search: changed, replace, resetScroll: false })}
        read={(query, options) => sluice.reactors.list({ formula_id: formulaId, ...query }, options)}
        columns={columns}
        empty={<Empty icon="reactors" title="No Reactor uses this formula" />}
      />
    </Card>
  );
}
