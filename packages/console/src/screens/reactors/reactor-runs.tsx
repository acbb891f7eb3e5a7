import type { ReactorRun } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { Card, Soft } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, CursorPaging, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { RunDetails } from './run-details.tsx';
import { RunState } from './run-state.tsx';
import { isUnderWay, tookOf } from './run-text.ts';

const route = getRouteApi('/reactors/$id');

const columns: readonly Column<ReactorRun>[] = [
  { title: 'Requested', tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'State', tight: true, cell: ({ state }) => <RunState state={state} /> },
  {
    title: 'Ended',
    tight: true,
    from: 46,
    cell: ({ ended_at }) => (ended_at ? <Time at={ended_at} /> : <Soft>not yet</Soft>),
  },
  { title: 'Took', tight: true, from: 46, atEnd: true, cell: tookOf },
];

/** The asynchronous runs of one Reactor, which are kept for a day. */
export default function ReactorRuns({ reactorId }: { reactorId: string }) {
  const { start, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['reactors', reactorId, 'runs', { start }],
    queryFn: ({ signal }) => sluice.reactors.results.list(reactorId, { size: 10 }, { signal }).page(start),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (data?.data.some(isUnderWay) ? 2_000 : 10_000),
  });
  const more: Column<ReactorRun> = {
    title: 'More',
    atEnd: true,
    cell: (run) => <RunDetails run={run} reactorId={reactorId} />,
  };
  const goTo = (page: { start?: string }) => navigate({ search: { ...search, ...page }, resetScroll: false });
  return (
    <Card
      title="Runs"
      intro="Runs of react-async. A run is deleted 24 hours after its end. Only the caller that requested it can read its result."
      flush
    >
      <Loaded query={query}>
        {({ data, pagination: { next } }) => (
          <>
            {data.length === 0 ? (
              <Empty icon="reactors" title="No runs in the last 24 hours" />
            ) : (
              <Table label="Runs" columns={[...columns, more]} rows={data} keyOf={({ id }) => id} />
            )}
            <CursorPaging
              next={next}
              onNext={(cursor) => goTo({ start: cursor })}
              onFirst={start === undefined ? undefined : () => goTo({})}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}
