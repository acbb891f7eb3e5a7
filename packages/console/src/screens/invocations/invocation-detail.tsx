import { Link } from '@tanstack/react-router';
import { useMissingRight } from '../../api/me.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Soft } from '../../ui/layout.tsx';
import { Time } from '../../ui/time.tsx';
import { Called } from './called.tsx';
import { guardFound } from './guard-found.ts';
import styles from './invocations.module.css';
import type { LiveRow } from './live-invocations.ts';
import { whyRefused } from './refusals.ts';
import { milliseconds, StageBar, stages } from './stage-bar.tsx';
import { StatusBadge } from './status-badge.tsx';

interface InvocationDetailProps {
  invocation: LiveRow;
  /** Of the Proxy or the Reactor, and of the Application. */
  names: ReadonlyMap<string, string>;
  onClose: () => void;
}

export function InvocationDetail({ invocation, names, onClose }: InvocationDetailProps) {
  const { reactor_id: reactor, application_id: application, trace_id: traceId, token_ids: tokens } = invocation;
  const { refused_by: refusedBy, destination_status: destination, stages_ms: stagesMs } = invocation;
  return (
    <Dialog open onClose={onClose} title={titleOf(invocation, names)} wide>
      <Facts
        facts={{
          When: <Time at={invocation.at} />,
          Answered: (
            <>
              <StatusBadge status={invocation.status} /> {refusedBy && whyRefused(refusedBy)}
            </>
          ),
          'Status of the destination': destination ? (
            <StatusBadge status={destination} />
          ) : (
            <Soft>it was not reached</Soft>
          ),
          Error: refusedBy && <code>{refusedBy}</code>,
          [reactor === undefined ? 'Proxy' : 'Reactor']: <Called invocation={invocation} names={names} />,
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
          {stages.map((stage) => (
            <li key={stage}>
              <span className={`${styles.dot} ${styles[stage]}`} aria-hidden="true" />
              {stage} {stagesMs[stage] === undefined ? 'not reached' : milliseconds(stagesMs[stage])}
            </li>
          ))}
        </ul>
      </section>
      <section className={styles.part}>
        <h3>Tokens</h3>
        {tokens.length === 0 && <Soft>No value of a token was sent.</Soft>}
        <Tokens ids={tokens} />
      </section>
      <GuardHits invocation={invocation} />
      <section className={styles.part}>
        <h3>Console</h3>
        <ConsoleLines lines={invocation.console} />
      </section>
      <div className={styles.acts}>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function titleOf(
  { method, proxy_id: proxy = '', reactor_id: reactor }: LiveRow,
  names: InvocationDetailProps['names'],
) {
  if (reactor !== undefined) return `Run of ${names.get(reactor) ?? 'a Reactor'}`;
  return `${method} at ${names.get(proxy) ?? 'a Proxy'}`;
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

function GuardHits({ invocation: { guard_hits: hits, guard_token_ids: tokens = [] } }: { invocation: LiveRow }) {
  if (hits === undefined) return null;
  return (
    <section className={styles.part}>
      <h3>Response guard</h3>
      <p>
        {guardFound(hits)} of the request in the response
        {tokens.length > 0 ? `. ${hits === 1 ? 'Its token' : 'Tokens of these values'}:` : ', of the configuration.'}
      </p>
      <Tokens ids={tokens} />
    </section>
  );
}

function ConsoleLines({ lines }: { lines: LiveRow['console'] | undefined }) {
  const missing = useMissingRight('proxy:update');
  if (missing !== undefined) return <Soft>{missing}</Soft>;
  if (!lines?.length) return <Soft>Its transforms printed nothing, or the setting TRANSFORM_CONSOLE is off.</Soft>;
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
