import type { Proxy as ProxyResource, ProxyVersion } from '@sluice/sdk';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { textOf } from '../../code/resource-text.ts';
import { Difference } from '../../editor/lazy-editor.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Card, Soft } from '../../ui/layout.tsx';
import { Loaded, Loading } from '../../ui/states.tsx';
import { type Column, Paging, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useWho } from '../settings/who.tsx';
import { proxyQuery } from './proxy-query.ts';

const route = getRouteApi('/proxies/$id/versions');

export function ProxyVersions() {
  const { id } = route.useParams();
  const { page, version } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: proxy } = useSuspenseQuery(proxyQuery(id));
  const query = useQuery({
    queryKey: ['proxies', id, 'versions', { page }],
    queryFn: ({ signal }) => sluice.proxies.versions.list(id, {}, { signal }).page(page),
  });
  return (
    <>
      {version !== undefined && <Compared key={version} proxy={proxy} version={version} />}
      <Card title="Versions" intro="Each change makes a version. The newest version is used." flush>
        <Loaded query={query}>
          {({ data, pagination }) => (
            <>
              <Versions id={id} newest={pagination.total_items ?? 0} versions={data} />
              <Paging pagination={pagination} onPage={(to) => navigate({ search: { page: to } })} />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

interface VersionsProps {
  /** Of the Proxy. */
  id: string;
  newest: number;
  versions: readonly ProxyVersion[];
}

function Versions({ id, newest, versions }: VersionsProps) {
  const who = useWho(versions.map(({ by }) => by));
  const columns: readonly Column<ProxyVersion>[] = [
    { title: 'Version', tight: true, cell: ({ version }) => `Version ${version}` },
    { title: 'Time', tight: true, cell: ({ at }) => <Time at={at} /> },
    { title: 'Changed', from: 46, cell: ({ changed }) => changed.join(', ') || <Soft>Created</Soft> },
    { title: 'Actor', from: 46, cell: ({ by }) => by && who(by) },
    {
      title: 'Compare',
      tight: true,
      cell: ({ version }) =>
        version === newest ? (
          <Soft>Current</Soft>
        ) : (
          <Link to="/proxies/$id/versions" params={{ id }} search={(former) => ({ ...former, version })}>
            Compare version {version}
          </Link>
        ),
    },
  ];
  return <Table label="Versions" columns={columns} rows={versions} keyOf={({ version }) => String(version)} />;
}

/** The differences from a version to the present Proxy. */
function Compared({ proxy, version }: { proxy: ProxyResource; version: number }) {
  const { id, name } = proxy;
  const query = useQuery({
    queryKey: ['proxies', id, 'versions', version],
    queryFn: ({ signal }) => sluice.proxies.versions.get(id, String(version), { signal }),
  });
  const restore = useChange({
    act: (options) => sluice.proxies.versions.restore(id, String(version), options),
    said: () => `${name} was restored to version ${version}`,
  });
  return (
    <Card
      title={`Changes from version ${version} to the current version`}
      acts={
        <Confirm
          small
          act={`Restore version ${version}`}
          title={`Restore version ${version}?`}
          text="It becomes the newest version. The current version stays in this list."
          needs="proxy:update"
          change={restore}
        />
      }
    >
      <Loaded query={query}>
        {(former) => (
          <Suspense fallback={<Loading />}>
            <Difference
              key={proxy.modified_at}
              label={`Differences since version ${version}`}
              before={textOf(former)}
              after={textOf(proxy)}
            />
          </Suspense>
        )}
      </Loaded>
    </Card>
  );
}
