import type { Reactor } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { useEdit } from '../../api/use-edit.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { MetricsCard } from '../../metrics/lazy-metrics.tsx';
import { Id } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, Facts, Page, Soft } from '../../ui/layout.tsx';
import { SettingsCard } from '../../ui/settings-card.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { ReactorCode } from './reactor-code.tsx';

const route = getRouteApi('/reactors/$id');

/** Loaded after the page, because they are below the figures, or wait for a click. */
const LastInvocations = lazy(() => import('../invocations/last-invocations.tsx'));
const ReactorRuns = lazy(() => import('./reactor-runs.tsx'));
const CallReactor = lazy(() => import('./call-reactor.tsx'));
const Editor = lazy(() => import('./reactor-editor.tsx'));

export function ReactorDetail() {
  return (
    <Guarded needs="reactor:read" what="You cannot see Reactors">
      <Detail />
    </Guarded>
  );
}

function Detail() {
  const { id } = route.useParams();
  const query = useQuery({
    queryKey: ['reactors', id],
    queryFn: ({ signal }) => sluice.reactors.get(id, { signal }),
  });
  return <Loaded query={query}>{(reactor) => <Found reactor={reactor} />}</Loaded>;
}

function Found({ reactor }: { reactor: Reactor }) {
  const { id, name, code } = reactor;
  const { range } = route.useSearch();
  const navigate = useNavigate();
  const remove = useChange({
    of: reactor,
    act: (options) => sluice.reactors.delete(id, options),
    said: () => `The Reactor ${name} was deleted`,
    onDone: () => navigate({ to: '/reactors' }),
  });
  return (
    <Page
      title={name}
      back={<Link to="/reactors">Reactors</Link>}
      acts={
        <Confirm
          act="Delete"
          title={`Delete ${name}?`}
          text="When you confirm, every call to this Reactor is refused. This cannot be undone."
          needs="reactor:delete"
          change={remove}
        />
      }
    >
      <SettingsCard needs="reactor:update" editor={(onDone) => <Editor reactor={reactor} onDone={onDone} />}>
        <Settings reactor={reactor} />
      </SettingsCard>
      {code !== undefined && <OwnCode reactor={reactor} />}
      <MetricsCard range={range} filter={{ reactor_id: id }} />
      <Suspense>
        <LastInvocations of={{ reactor_id: id }} />
        <ReactorRuns reactorId={id} />
        <CallReactor reactorId={id} />
      </Suspense>
    </Page>
  );
}

function OwnCode({ reactor }: { reactor: Reactor }) {
  const { id, name, configuration = {} } = reactor;
  const edit = useEdit({
    resource: reactor,
    toDraft: ({ code = '' }) => code,
    read: () => sluice.reactors.get(id),
    act: (options, code) => sluice.reactors.patch(id, { code }, options),
    said: () => `The code of ${name} was saved`,
  });
  return (
    <ReactorCode
      label="Code of the Reactor"
      what="the Reactor"
      edit={edit}
      configuration={configuration}
      args={{ amount: 4200 }}
    />
  );
}

function Settings({ reactor }: { reactor: Reactor }) {
  const {
    id,
    formula_id,
    application_id: applicationId,
    configuration = {},
    retryable,
    modified_at,
    created_at,
  } = reactor;
  const names = Object.keys(configuration);
  const formulas = useNames('formulas', [formula_id]);
  const applications = useNames('applications', [applicationId]);
  return (
    <Facts
      facts={{
        Id: <Id id={id} />,
        Runs: formula_id ? (
          <>
            the formula <ThingLink type="reactor_formula" id={formula_id} name={formulas.get(formula_id)} />
          </>
        ) : (
          'its own code'
        ),
        'Application of the code': applicationId ? (
          <ThingLink type="application" id={applicationId} name={applications.get(applicationId)} />
        ) : (
          <Soft>none</Soft>
        ),
        Configuration: names.length > 0 ? <code>{names.join(', ')}</code> : <Soft>none</Soft>,
        'Interrupted runs': retryable ? <Badge tone="info">are repeated</Badge> : <Badge>fail</Badge>,
        Changed: <Time at={modified_at ?? created_at} />,
      }}
    />
  );
}
