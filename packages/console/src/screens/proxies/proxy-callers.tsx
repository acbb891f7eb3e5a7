import type { Application, Proxy as ProxyResource } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { Badge, Card, Soft } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import styles from './proxies.module.css';

const most = 100;
const use = 'token:use';

/** The Applications whose keys may call the Proxy. The person needs to see Applications. */
export default function ProxyCallers({ proxy: { id: proxyId, require_auth } }: { proxy: ProxyResource }) {
  const hidden = useMissingRight('application:read') !== undefined;
  const query = useQuery({
    queryKey: ['applications', 'callers'],
    queryFn: ({ signal }) => sluice.applications.list({ size: most }, { signal }).page(),
    enabled: !hidden,
  });
  if (hidden) return null;
  return (
    <Card
      title="Callers"
      intro="Private Applications that have token:use may call this Proxy. If they authorize sessions with token:use, these sessions may call the Proxy, too. If an Application or a session has a list of Proxies, the list must contain this Proxy."
      flush
    >
      <Loaded query={query}>
        {({ data, pagination }) => {
          const callers = data.filter((application) => mayCall(application, proxyId));
          const notes = [
            ...(callers.length === 0 ? ['No Application may call this Proxy.'] : []),
            ...((pagination.total_items ?? 0) > most ? [`Only the newest ${most} Applications are shown.`] : []),
            ...(require_auth
              ? []
              : ['Anybody who knows the key of the Proxy may call the Proxy. No API key is needed.']),
          ];
          return (
            <>
              {callers.length > 0 && (
                <Table label="Callers" columns={columnsFor(proxyId)} rows={callers} keyOf={({ id }) => id} />
              )}
              {notes.length > 0 && (
                <p className={styles.note}>
                  <Soft>{notes.join(' ')}</Soft>
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function mayCall({ type, permissions, rules, proxies }: Application, proxyId: string): boolean {
  const granted = permissions.includes(use) || rules.some((rule) => rule.permissions.includes(use));
  return type === 'private' && granted && (proxies?.includes(proxyId) ?? true);
}

function columnsFor(proxyId: string): readonly Column<Application>[] {
  return [
    {
      title: 'Application',
      cell: ({ id, name }) => (
        <Link to="/applications/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    {
      title: 'May call',
      cell: ({ proxies }) =>
        proxies ? <Badge tone="good">named Proxies</Badge> : <Badge tone="warn">every Proxy</Badge>,
    },
    {
      title: 'Explain',
      tight: true,
      cell: ({ id, name }) => (
        <Link
          to="/applications/$id"
          params={{ id }}
          search={{ proxy: proxyId }}
          hash="explain-call"
          aria-label={`Explain a call of ${name}`}
        >
          A call
        </Link>
      ),
    },
  ];
}
