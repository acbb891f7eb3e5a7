import { AuthenticationError } from '@sluice/sdk';
import { getRouteApi, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { sluice } from '../../api/client.ts';
import { leaveToSignIn } from '../../api/sign-in.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Failed, Guarded, Loading } from '../../ui/states.tsx';
import { InvocationDetail } from './invocation-detail.tsx';
import { InvocationFilters } from './invocation-filters.tsx';
import { type InvocationSearch, invocationSearch } from './invocation-search.ts';
import { InvocationTable } from './invocation-table.tsx';
import styles from './invocations.module.css';
import { LiveInvocations, type LiveRow, type LiveView, mostRows } from './live-invocations.ts';
import { StageLegend } from './stage-bar.tsx';
import { useInvocationNames } from './use-invocation-names.ts';

const route = getRouteApi('/invocations');

export function InvocationsPage() {
  const navigate = route.useNavigate();
  // Also with the address of an invocation, which has a member of its own
  const filters = invocationSearch(route.useSearch());
  return (
    <Page
      title="Invocations"
      intro="Calls through Proxies and runs of Reactors. The list begins with the newest of the last 15 minutes, at most 100, and new ones appear live. Bodies and values are never shown. For a complete record, use the audit log."
    >
      <Card flush>
        <Guarded needs="log:read" what="You cannot see invocations">
          <InvocationFilters
            filters={filters}
            onFilters={(search) => navigate({ to: '/invocations', search, replace: true })}
          />
          <Live key={JSON.stringify(filters)} filters={filters} />
        </Guarded>
      </Card>
    </Page>
  );
}

function Live({ filters }: { filters: InvocationSearch }) {
  const [live] = useState(() => new LiveInvocations((...args) => sluice.invocations.watch(...args)));
  const [query] = useState(filters);
  const [attempt, setAttempt] = useState(0);
  const view = useSyncExternalStore(live.subscribe, live.view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins the stream again
  useEffect(() => {
    const leaving = new AbortController();
    live.follow(query, leaving.signal);
    return () => {
      leaving.abort();
      live.stop();
    };
  }, [live, query, attempt]);
  useEffect(() => {
    if (view.error instanceof AuthenticationError) leaveToSignIn();
  }, [view.error]);
  const names = useInvocationNames(view.rows);
  if (view.state === 'failed') return <Failed error={view.error} retry={() => setAttempt(attempt + 1)} />;
  return (
    <>
      <div className={styles.head}>
        <StreamState view={view} onPaused={(isPaused) => live.setPaused(isPaused)} />
        <StageLegend />
      </div>
      {view.rows.length > 0 && <InvocationTable rows={view.rows} names={names} filters={filters} />}
      {view.rows.length === 0 && view.state === 'connecting' && <Loading />}
      {view.rows.length === 0 && view.state !== 'connecting' && (
        <Empty icon="invocations" title="No invocations">
          {Object.keys(filters).length > 0
            ? 'No call of the last 15 minutes matches. A new one that matches appears here.'
            : 'Nobody has called a Proxy or a Reactor in the last 15 minutes. A call appears here within a second.'}
        </Empty>
      )}
      <Opened rows={view.rows} filters={filters} />
    </>
  );
}

/** What the address names, above the list. */
function Opened({ rows, filters }: { rows: readonly LiveRow[]; filters: InvocationSearch }) {
  const navigate = route.useNavigate();
  const { traceId } = useParams({ strict: false });
  const { at } = useSearch({ strict: false });
  if (traceId === undefined) return null;
  const row = rows.find((one) => one.trace_id === traceId && (at === undefined || one.at === at));
  const close = () => navigate({ to: '/invocations', search: filters });
  return <InvocationDetail key={`${traceId} ${at}`} traceId={traceId} at={at} known={row} onClose={close} />;
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
      {skipped > 0 && (
        <span>
          · {count.format(skipped)} {skipped === 1 ? 'invocation is' : 'invocations are'} missing, because too many came
          at once or Redis was unavailable
        </span>
      )}
      {rows.length === mostRows && <span>· the newest {mostRows}</span>}
    </div>
  );
}
