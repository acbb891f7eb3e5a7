import type { Invocation } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { Badge, Card, Soft } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const columns: readonly Column<Invocation>[] = [
  { title: 'Time', tight: true, cell: ({ at }) => <Time at={at} /> },
  { title: 'Method', from: 46, cell: ({ method }) => method },
  {
    title: 'Answered',
    tight: true,
    cell: ({ status, refused_by: cause }) => (
      <>
        <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge> {cause && <code>{cause}</code>}
      </>
    ),
  },
  {
    title: 'Destination',
    from: 46,
    cell: ({ destination_status: status }) => status ?? <Soft>not reached</Soft>,
  },
  { title: 'Took', atEnd: true, cell: ({ stages_ms: { total } }) => total !== undefined && `${total.toFixed(1)} ms` },
  { title: 'Trace id', from: 46, cell: ({ trace_id }) => <code>{trace_id}</code> },
];

/** The newest calls through one Proxy, of the last quarter of an hour. */
export function LastInvocations({ proxyId }: { proxyId: string }) {
  return (
    <Card title="Last invocations" intro="Of the last 15 minutes." flush>
      <Guarded needs="log:read" what="You cannot see invocations">
        <Rows proxyId={proxyId} />
      </Guarded>
    </Card>
  );
}

function Rows({ proxyId }: { proxyId: string }) {
  const query = useQuery({
    queryKey: ['invocations', { proxyId }],
    queryFn: ({ signal }) => sluice.invocations.list({ proxy_id: proxyId, size: 10 }, { signal }).page(),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon="invocations" title="Nobody has called it in the last 15 minutes" />
        ) : (
          <Table label="Last invocations" columns={columns} rows={data} keyOf={({ trace_id, at }) => trace_id + at} />
        )
      }
    </Loaded>
  );
}
