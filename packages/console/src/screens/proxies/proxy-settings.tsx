import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { headerPrefix } from '../../api/client.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { MetricsCard } from '../../metrics/lazy-metrics.tsx';
import { Id } from '../../ui/copy.tsx';
import { Badge, Facts, Soft } from '../../ui/layout.tsx';
import { SettingsCard } from '../../ui/settings-card.tsx';
import { Time } from '../../ui/time.tsx';
import { routeOf } from './calls.ts';
import { guards } from './guard-field.tsx';
import { defaultTimeoutS, placesInWords } from './proxy-draft.ts';
import { proxyQuery } from './proxy-query.ts';
import { keyPlaces } from './route-fields.tsx';

const route = getRouteApi('/proxies/$id/');

/** Loaded after the page, because they are below the figures, or wait for a click. */
const LastInvocations = lazy(() => import('../invocations/last-invocations.tsx'));
const ProxyCallers = lazy(() => import('./proxy-callers.tsx'));
const CallIt = lazy(() => import('./call-it.tsx'));
const Editor = lazy(() => import('./proxy-editor.tsx'));

export function ProxySettings() {
  const { id } = route.useParams();
  const { range } = route.useSearch();
  const { data: proxy } = useSuspenseQuery(proxyQuery(id));
  return (
    <>
      <SettingsCard needs="proxy:update" editor={(onDone) => <Editor proxy={proxy} onDone={onDone} />}>
        <Settings proxy={proxy} />
      </SettingsCard>
      <MetricsCard range={range} filter={{ proxy_id: id }} />
      <Suspense>
        <CallIt proxy={proxy} />
        <LastInvocations of={{ proxy_id: id }} />
        <ProxyCallers proxy={proxy} />
      </Suspense>
    </>
  );
}

function Settings({ proxy }: { proxy: ProxyResource }) {
  const names = Object.keys(proxy.configuration ?? {});
  const headers = Object.keys(proxy.request_headers ?? {});
  const { application_id: applicationId, former_application_id: former, modified_at, created_at } = proxy;
  const { response_guard: guard = 'off' } = proxy;
  const applications = useNames('applications', [applicationId]);
  return (
    <Facts
      facts={{
        Destination: <code>{proxy.destination_url}</code>,
        Id: <Id id={proxy.id} />,
        Key: <Id id={proxy.key} what="the key" />,
        Route: proxy.path_name ? <Id id={routeOf(proxy)} what="the address of the route" /> : <Soft>none</Soft>,
        'Route accepts API keys in': proxy.path_name && <code>{keyPlacesInWords(proxy)}</code>,
        'Allowed methods': <Listed list={proxy.allowed_methods} />,
        'Allowed paths': <Listed list={proxy.allowed_paths} />,
        Callers: proxy.require_auth ? (
          <Badge tone="good">API key required</Badge>
        ) : (
          <Badge tone="warn">no API key required</Badge>
        ),
        Application: applicationId ? (
          <ThingLink type="application" id={applicationId} name={applications.get(applicationId)} />
        ) : former ? (
          <>
            <Badge tone="bad">deleted</Badge> <code>{former}</code>{' '}
            <Soft>
              Until you choose another Application, code has no req.svc, and tokens in the headers of this Proxy are not
              revealed.
            </Soft>
          </>
        ) : (
          <Soft>none</Soft>
        ),
        Configuration: names.length > 0 ? <code>{names.join(', ')}</code> : <Soft>none</Soft>,
        'Sets headers': headers.length > 0 ? <code>{headers.join(', ')}</code> : <Soft>none</Soft>,
        'Replaces tokens in': <code>{placesInWords(proxy.token_places)}</code>,
        'Response guard': guard === 'off' ? <Soft>off</Soft> : <Badge tone="good">{guards[guard].name}</Badge>,
        'Time limit': `${proxy.head_timeout_s ?? defaultTimeoutS} s`,
        Changed: <Time at={modified_at ?? created_at} />,
      }}
    />
  );
}

function keyPlacesInWords({ accept_key_as: chosen = [] }: ProxyResource): string {
  return [`${headerPrefix}-API-KEY`, ...chosen.map((place) => keyPlaces[place].label)].join(', ');
}

function Listed({ list }: { list: readonly string[] | undefined }) {
  return list ? <code>{list.join(', ')}</code> : <Soft>all</Soft>;
}
