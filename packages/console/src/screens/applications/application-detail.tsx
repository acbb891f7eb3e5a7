import type { Application } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { MetricsCard } from '../../metrics/lazy-metrics.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Card, Facts, Page } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { ApplicationGrants } from './application-grants.tsx';
import { ApplicationKeys } from './application-keys.tsx';
import { typeNames } from './application-types.ts';
import { ApplicationUses, UsesInWords, useUses } from './application-uses.tsx';
import { CallableProxies } from './callable-proxies.tsx';
import { ExplainAccess } from './explain-access.tsx';
import { ExplainCall } from './explain-call.tsx';

const route = getRouteApi('/applications/$id');

/** Loaded after the page. */
const CallWithKey = lazy(() => import('./call-with-key.tsx'));

export function ApplicationDetail() {
  return (
    <Guarded needs="application:read" what="You cannot see Applications">
      <Detail />
    </Guarded>
  );
}

function Detail() {
  const { id } = route.useParams();
  const query = useQuery({
    queryKey: ['applications', id],
    queryFn: ({ signal }) => sluice.applications.get(id, { signal }),
  });
  return <Loaded query={query}>{(application) => <Found application={application} />}</Loaded>;
}

function Found({ application }: { application: Application }) {
  const { id, name, type, created_at, modified_at, expires_at, allowed_origins: origins, proxies } = application;
  const { range } = route.useSearch();
  const navigate = useNavigate();
  const uses = useUses(id);
  const remove = useChange({
    of: application,
    act: (options) => sluice.applications.delete(id, options),
    said: () => `The Application ${name} was deleted`,
    onDone: () => navigate({ to: '/applications' }),
  });
  return (
    <Page
      title={name}
      back={<Link to="/applications">Applications</Link>}
      acts={
        <>
          <LinkButton to="/audit" search={{ actor_id: id }} icon="audit" needs="log:read">
            Audit log
          </LinkButton>
          <Confirm
            act="Delete"
            title={`Delete ${name}?`}
            text="When you confirm, all its keys are refused. All sessions that it created or authorized are ended. This cannot be undone."
            needs="application:delete"
            typed={uses && uses.proxy_count + uses.reactor_count > 0 ? name : undefined}
            change={remove}
          >
            <UsesInWords uses={uses} />
          </Confirm>
        </>
      }
    >
      <Card>
        <Facts
          facts={{
            Type: typeNames[type],
            Id: <Id id={id} />,
            Created: created_at && <Time at={created_at} />,
            Changed: modified_at && <Time at={modified_at} />,
            Ends: expires_at && <Time at={expires_at} />,
            'May call': type === 'private' && mayUse(application) ? <CallableProxies proxies={proxies} /> : undefined,
            'Allowed origins': origins && (origins.length > 0 ? origins.join(', ') : 'None'),
          }}
        />
      </Card>
      {type !== 'management' && <MetricsCard range={range} filter={{ application_id: id }} />}
      <ApplicationUses uses={uses} />
      <ApplicationGrants application={application} />
      <ApplicationKeys application={application} />
      <Suspense>
        <CallWithKey application={application} />
      </Suspense>
      {type !== 'management' && <ExplainAccess application={application} />}
      {type === 'private' && <ExplainCall application={application} />}
    </Page>
  );
}

function mayUse({ permissions, rules }: Application): boolean {
  return permissions.includes('token:use') || rules.some((rule) => rule.permissions.includes('token:use'));
}
