import type { ApplicationUses as Uses } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { Card, Facts } from '../../ui/layout.tsx';
import styles from './applications.module.css';

/** Undefined until it is read. */
export function useUses(id: string): Uses | undefined {
  const { data } = useQuery({
    queryKey: ['applications', id, 'uses'],
    queryFn: ({ signal }) => sluice.applications.uses(id, { signal }),
  });
  return data;
}

const plural = (count: number, noun: string, nouns: string) => (count === 1 ? `1 ${noun}` : `${count} ${nouns}`);

function inWords({ proxy_count: proxies, reactor_count: reactors }: Uses): string {
  return [
    ...(proxies > 0 ? [plural(proxies, 'Proxy', 'Proxies')] : []),
    ...(reactors > 0 ? [plural(reactors, 'Reactor', 'Reactors')] : []),
  ].join(' and ');
}

function isUsed({ proxy_count, reactor_count }: Uses): boolean {
  return proxy_count + reactor_count > 0;
}

/** For the question before it is deleted. */
export function UsesInWords({ uses }: { uses: Uses | undefined }) {
  if (!uses || !isUsed(uses)) return null;
  return (
    <div className={styles.uses}>
      <p>
        The code of {inWords(uses)} has the permissions of this Application. After the deletion, every call of{' '}
        <code>req.svc</code> in this code fails:
      </p>
      <List uses={uses} most={5} />
    </div>
  );
}

export function ApplicationUses({ uses }: { uses: Uses | undefined }) {
  if (!uses || !isUsed(uses)) return null;
  return (
    <Card title="Used by" intro="Their code has the permissions of this Application.">
      <Facts facts={{ [inWords(uses)]: <List uses={uses} most={20} /> }} />
    </Card>
  );
}

/** What the person may not see is only counted. */
function List({ uses: { proxies = [], reactors = [] }, most }: { uses: Uses; most: number }) {
  const links = [
    ...proxies.map(({ id, name }) => ({ id, name, to: '/proxies/$id' as const })),
    ...reactors.map(({ id, name }) => ({ id, name, to: '/reactors/$id' as const })),
  ];
  return (
    <ul>
      {links.slice(0, most).map(({ id, name, to }) => (
        <li key={id}>
          <Link to={to} params={{ id }}>
            {name}
          </Link>
        </li>
      ))}
      {links.length > most && <li>and {links.length - most} more</li>}
    </ul>
  );
}
