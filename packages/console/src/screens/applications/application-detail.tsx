import type { Application } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Id } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, Card, Facts, Page } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { ApplicationGrants } from './application-grants.tsx';
import { ApplicationKeys } from './application-keys.tsx';
import { toneOf } from './application-list.tsx';
import { ApplicationUses, UsesInWords, useUses } from './application-uses.tsx';
import { ExplainAccess } from './explain-access.tsx';

const route = getRouteApi('/applications/$id');

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
  const { id, name, type, created_at, modified_at, expires_at, allowed_origins: origins } = application;
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
        <Confirm
          act="Delete"
          title={`Delete ${name}?`}
          text="All its keys are refused as soon as this is confirmed, and the sessions that it made or authorized end. It cannot be taken back."
          needs="application:delete"
          typed={uses && uses.proxy_count + uses.reactor_count > 0 ? name : undefined}
          change={remove}
        >
          <UsesInWords uses={uses} />
        </Confirm>
      }
    >
      <Card>
        <Facts
          facts={{
            Type: <Badge tone={toneOf(type)}>{type}</Badge>,
            Id: <Id id={id} />,
            Created: created_at && <Time at={created_at} />,
            Changed: modified_at && <Time at={modified_at} />,
            Ends: expires_at && <Time at={expires_at} />,
            'Allowed origins': origins && (origins.length > 0 ? origins.join(', ') : 'None'),
          }}
        />
      </Card>
      <ApplicationUses uses={uses} />
      <ApplicationGrants application={application} />
      <ApplicationKeys application={application} />
      {type !== 'management' && <ExplainAccess application={application} />}
    </Page>
  );
}
