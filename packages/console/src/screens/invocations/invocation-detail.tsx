import type { Invocation } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Soft } from '../../ui/layout.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Clock } from '../../ui/time.tsx';
import { useTitle } from '../../ui/title.ts';
import { Called } from './called.tsx';
import { guardFound } from './guard-found.ts';
import styles from './invocations.module.css';
import { whyRefused } from './refusals.ts';
import { milliseconds, StageBar, stagesOf } from './stage-bar.tsx';
import { StatusBadge } from './status-badge.tsx';
import { useInvocationNames } from './use-invocation-names.ts';

interface InvocationDetailProps {
  traceId: string;
  /** Of several with this trace id. Default: the newest. */
  at: string | undefined;
  /** Where the list has it. */
  known: Invocation | undefined;
  onClose: () => void;
}

export function InvocationDetail({ traceId, at, known, onClose }: InvocationDetailProps) {
  const query = useQuery({
    queryKey: ['invocations', { traceId, at }],
    queryFn: async ({ signal }): Promise<Invocation | null> => {
      const { data } = await sluice.invocations.list({ trace_id: traceId, size: 100 }, { signal }).page();
      return data.find((one) => at === undefined || one.at === at) ?? null;
    },
    // It never changes, and stays here after the list has dropped it
    staleTime: Number.POSITIVE_INFINITY,
    ...(known && { initialData: known }),
  });
  const names = useInvocationNames(query.data ? [query.data] : []);
  const title = titleOf(query.data, names);
  useTitle('part', title);
  return (
    <Dialog open onClose={onClose} title={title} wide>
      <Loaded query={query}>
        {(invocation) =>
          invocation ? <Found invocation={invocation} names={names} /> : <NoLongerKept traceId={traceId} />
        }
      </Loaded>
      <div className={styles.acts}>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function titleOf(invocation: Invocation | null | undefined, names: FoundProps['names']): string {
  if (!invocation) return 'Invocation';
  const { method, proxy_id: proxy = '', reactor_id: reactor } = invocation;
  if (reactor !== undefined) return `Run of ${names.get(reactor) ?? 'a Reactor'}`;
  return `${method} at ${names.get(proxy) ?? 'a Proxy'}`;
}

function NoLongerKept({ traceId }: { traceId: string }) {
  return (
    <Empty
      icon="invocations"
      title="This call is no longer shown"
      acts={
        <Link to="/audit" search={{ trace_id: traceId }}>
          Audit log of this trace id
        </Link>
      }
    >
      Only calls of the last 15 minutes are shown, and of these only the newest 1,000. The audit log shows the tokens
      that a call disclosed, and what the call changed.
    </Empty>
  );
}

interface FoundProps {
  invocation: Invocation;
  /** Of the Proxy or the Reactor, and of the Application. */
  names: ReadonlyMap<string, string>;
}

function Found({ invocation, names }: FoundProps) {
  const { reactor_id: reactor, application_id: application, trace_id: traceId, token_ids: tokens } = invocation;
  const { refused_by: refusedBy, detail, destination_status: destination, stages_ms: stagesMs } = invocation;
  const isRun = reactor !== undefined;
  return (
    <>
      <Facts
        facts={{
          When: <Clock at={invocation.at} />,
          Answered: (
            <>
              <StatusBadge status={invocation.status} /> {detail ?? (refusedBy && whyRefused(refusedBy))}
            </>
          ),
          'Status of the destination': isRun ? undefined : destination ? (
            <StatusBadge status={destination} />
          ) : (
            <Soft>it was not reached</Soft>
          ),
          Error: refusedBy && <code>{refusedBy}</code>,
          [isRun ? 'Reactor' : 'Proxy']: <Called invocation={invocation} names={names} />,
          'Key of': application ? (
            <ThingLink type="application" id={application} name={names.get(application)} />
          ) : (
            <Soft>nobody</Soft>
          ),
          'Trace id': <Id id={traceId} what="the trace id" />,
          'In the log': (
            <Link to="/audit" search={{ trace_id: traceId }}>
              Disclosed tokens
            </Link>
          ),
        }}
      />
      <section className={styles.part}>
        <h3>Stages</h3>
        <StageBar stagesMs={stagesMs} />
        <ul className={styles.legend}>
          {stagesOf(isRun).map((stage) => (
            <li key={stage}>
              <span className={`${styles.dot} ${styles[stage]}`} aria-hidden="true" />
              {stage} {stagesMs[stage] === undefined ? 'did not run' : milliseconds(stagesMs[stage])}
            </li>
          ))}
        </ul>
      </section>
      <section className={styles.part}>
        <h3>Tokens</h3>
        {tokens.length === 0 && <Soft>No value of a token was {isRun ? 'put into the arguments' : 'sent'}.</Soft>}
        <Tokens ids={tokens} />
      </section>
      <GuardHits invocation={invocation} />
      <section className={styles.part}>
        <h3>Console</h3>
        <ConsoleLines invocation={invocation} />
      </section>
    </>
  );
}

function Tokens({ ids }: { ids: readonly string[] }) {
  return (
    <ul className={styles.tokens}>
      {ids.map((id) => (
        <li key={id}>
          <ThingLink type="token" id={id} />
        </li>
      ))}
    </ul>
  );
}

function GuardHits({ invocation: { guard_hits: hits, guard_token_ids: tokens = [] } }: { invocation: Invocation }) {
  if (hits === undefined) return null;
  const isOne = hits === 1;
  return (
    <section className={styles.part}>
      <h3>Response guard</h3>
      <p>
        {guardFound(hits)} in the response. Sluice had put {isOne ? 'this value' : 'these values'} into the request.{' '}
        {tokens.length > 0
          ? `${isOne ? 'Its token' : 'Tokens of these values'}:`
          : `${isOne ? 'It is' : 'They are'} from the configuration.`}
      </p>
      <Tokens ids={tokens} />
    </section>
  );
}

function ConsoleLines({ invocation }: { invocation: Invocation }) {
  const { console: lines, reactor_id: reactor, stages_ms: stagesMs } = invocation;
  const missing = useMissingRight(reactor === undefined ? 'proxy:update' : 'reactor:update');
  if (missing !== undefined) return <Soft>{missing}</Soft>;
  if (!lines?.length && stagesMs.transform === undefined && stagesMs.code === undefined) {
    return <Soft>No code ran.</Soft>;
  }
  const code = reactor === undefined ? 'Its transforms' : 'Its code';
  if (!lines?.length) return <Soft>{code} printed nothing, or the setting TRANSFORM_CONSOLE is off.</Soft>;
  return (
    <ol className={styles.lines}>
      {lines.map(({ level, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never change
        <li key={at}>
          <Soft>{level}</Soft> {text}
        </li>
      ))}
    </ol>
  );
}
