import type { Invocation } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Card, Soft } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { milliseconds } from './stage-bar.tsx';
import { StatusBadge } from './status-badge.tsx';
import { useInvocationNames } from './use-invocation-names.ts';

/** One of the two. */
interface Called {
  proxy_id?: string;
  reactor_id?: string;
}

/** The newest calls of one Proxy or Reactor, of the last quarter of an hour. */
export default function LastInvocations({ of }: { of: Called }) {
  return (
    <Card
      title="Last invocations"
      intro={`${of.reactor_id === undefined ? 'Calls' : 'Runs of react and react-async that ended'} in the last 15 minutes.`}
      acts={
        <Link to="/invocations" search={of}>
          All, live
        </Link>
      }
      flush
    >
      <Guarded needs="log:read" what="You cannot see invocations">
        <Rows of={of} />
      </Guarded>
    </Card>
  );
}

function Rows({ of }: { of: Called }) {
  const navigate = useNavigate();
  const query = useQuery({
    queryKey: ['invocations', of],
    queryFn: ({ signal }) => sluice.invocations.list({ ...of, size: 10 }, { signal }).page(),
    refetchInterval: 2_000,
  });
  const names = useInvocationNames(query.data?.data ?? []);
  const placeOf = ({ trace_id: traceId, at }: Invocation) => ({
    to: '/invocations/$traceId' as const,
    params: { traceId },
    search: { ...of, at },
  });
  const columns: readonly Column<Invocation>[] = [
    {
      title: 'Time',
      tight: true,
      cell: (row) => (
        <Link {...placeOf(row)}>
          <Time at={row.at} />
        </Link>
      ),
    },
    {
      title: 'Answered',
      tight: true,
      cell: ({ status, refused_by: cause }) => (
        <>
          <StatusBadge status={status} /> {cause && <code>{cause}</code>}
        </>
      ),
    },
    ...(of.reactor_id === undefined ? ofProxies : []),
    {
      title: 'Key of',
      from: 46,
      cell: ({ application_id: id }) =>
        id ? <ThingLink type="application" id={id} name={names.get(id)} /> : <Soft>nobody</Soft>,
    },
    { title: 'Took', atEnd: true, cell: ({ stages_ms: { total } }) => total !== undefined && milliseconds(total) },
    { title: 'Trace id', from: of.reactor_id === undefined ? 72 : 46, cell: ({ trace_id }) => <code>{trace_id}</code> },
  ];
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon="invocations" title="Nobody has called it in the last 15 minutes" />
        ) : (
          <Table
            label="Last invocations"
            columns={columns}
            rows={data}
            keyOf={({ trace_id, at }) => trace_id + at}
            onOpen={(row) => navigate(placeOf(row))}
          />
        )
      }
    </Loaded>
  );
}

const ofProxies: readonly Column<Invocation>[] = [
  { title: 'Method', from: 46, cell: ({ method }) => method },
  {
    title: 'Destination',
    from: 46,
    cell: ({ destination_status: status }) => (status ? <StatusBadge status={status} /> : <Soft>not reached</Soft>),
  },
];
