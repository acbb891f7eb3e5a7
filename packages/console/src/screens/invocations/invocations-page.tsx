import { AuthenticationError } from '@sluice/sdk';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { sluice } from '../../api/client.ts';
import { leaveToSignIn } from '../../api/sign-in.ts';
import { useNames } from '../../api/use-names.ts';
import { Button } from '../../ui/button.tsx';
import { Filters, Find } from '../../ui/filters.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Failed, Guarded, Loading } from '../../ui/states.tsx';
import { InvocationDetail } from './invocation-detail.tsx';
import type { InvocationSearch } from './invocation-search.ts';
import { InvocationTable } from './invocation-table.tsx';
import styles from './invocations.module.css';
import { LiveInvocations, type LiveRow, type LiveView, mostRows } from './live-invocations.ts';
import { StageLegend } from './stage-bar.tsx';

const route = getRouteApi('/invocations');

export function InvocationsPage() {
  const filters = route.useSearch();
  return (
    <Page
      title="Invocations"
      intro="Live calls through Proxies, starting with the last 15 minutes. Bodies and values are never shown. For a complete record use the audit log."
    >
      <Card flush>
        <Guarded needs="log:read" what="You cannot see invocations">
          <InvocationFilters filters={filters} />
          <Live key={JSON.stringify(filters)} filters={filters} />
        </Guarded>
      </Card>
    </Page>
  );
}

function InvocationFilters({ filters }: { filters: InvocationSearch }) {
  const navigate = route.useNavigate();
  const filterBy = (name: keyof InvocationSearch) => (value: string) =>
    navigate({ search: { ...filters, [name]: value === '' ? undefined : value } });
  return (
    <Filters>
      <Find label="Proxy" value={filters.proxy_id ?? ''} placeholder="Proxy id" onValue={filterBy('proxy_id')} />
      <Find
        label="Application"
        value={filters.application_id ?? ''}
        placeholder="Application id"
        onValue={filterBy('application_id')}
      />
      <Find label="Status" value={filters.status ?? ''} placeholder="200" onValue={filterBy('status')} />
      <Find label="Trace" value={filters.trace_id ?? ''} placeholder="Trace id" onValue={filterBy('trace_id')} />
      {Object.keys(filters).length > 0 && (
        <Button small onClick={() => navigate({ search: {} })}>
          Clear
        </Button>
      )}
    </Filters>
  );
}

function Live({ filters }: { filters: InvocationSearch }) {
  const [live] = useState(() => new LiveInvocations((...args) => sluice.invocations.watch(...args)));
  const [attempt, setAttempt] = useState(0);
  const [opened, setOpened] = useState<LiveRow>();
  const view = useSyncExternalStore(live.subscribe, live.view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins the stream again
  useEffect(() => {
    const leaving = new AbortController();
    live.follow(filters, leaving.signal);
    return () => {
      leaving.abort();
      live.stop();
    };
  }, [live, filters, attempt]);
  useEffect(() => {
    if (view.error instanceof AuthenticationError) leaveToSignIn();
  }, [view.error]);
  const names = useAllNames(view.rows);
  if (view.state === 'failed') return <Failed error={view.error} retry={() => setAttempt(attempt + 1)} />;
  return (
    <>
      <div className={styles.head}>
        <StreamState view={view} onPaused={(isPaused) => live.setPaused(isPaused)} />
        <StageLegend />
      </div>
      {view.rows.length > 0 && <InvocationTable rows={view.rows} names={names} onOpen={setOpened} />}
      {view.rows.length === 0 && view.state === 'connecting' && <Loading />}
      {view.rows.length === 0 && view.state !== 'connecting' && (
        <Empty icon="invocations" title="No invocations">
          {Object.keys(filters).length > 0
            ? 'No call of the last 15 minutes matches. A new one that matches appears here.'
            : 'Nobody has called a Proxy in the last 15 minutes. A call appears here within a second.'}
        </Empty>
      )}
      {opened && <InvocationDetail invocation={opened} names={names} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function useAllNames(rows: readonly LiveRow[]): ReadonlyMap<string, string> {
  const proxies = useNames(
    'proxies',
    rows.map((row) => row.proxy_id),
  );
  const applications = useNames(
    'applications',
    rows.map((row) => row.application_id),
  );
  const reactors = useNames(
    'reactors',
    rows.map((row) => row.reactor_id),
  );
  return new Map([...proxies, ...reactors, ...applications]);
}

const count = new Intl.NumberFormat();

function StreamState({ view, onPaused }: { view: LiveView; onPaused: (isPaused: boolean) => void }) {
  const { state, isPaused, waiting, skipped, rows } = view;
  const words = {
    connecting: 'Connecting',
    live: 'Live',
    lost: 'Connection lost. Connecting again',
    failed: 'Refused',
  }[state];
  return (
    <div className={styles.state}>
      <Button small onClick={() => onPaused(!isPaused)}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <span className={`${styles.light} ${state === 'live' && !isPaused ? styles.lit : ''}`} aria-hidden="true" />
      <span>{isPaused ? `Paused, ${count.format(waiting)} new` : words}</span>
      {skipped > 0 && <span>· {count.format(skipped)} missing, because there were too many at once</span>}
      {rows.length === mostRows && <span>· the newest {mostRows}</span>}
    </div>
  );
}
