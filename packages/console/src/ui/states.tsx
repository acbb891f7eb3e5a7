import { type PermissionName, SluiceError } from '@sluice/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMissingRight } from '../api/me.ts';
import { Button } from './button.tsx';
import { ErrorDetails } from './error-details.tsx';
import { otherFaultInWords } from './faults-in-words.ts';
import { Icon, type IconName } from './icon.tsx';
import styles from './states.module.css';

export function Loading() {
  return (
    <div className={styles.bars} role="status" aria-label="Loading">
      <span className={styles.bar} />
      <span className={styles.bar} />
      <span className={styles.bar} />
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What to do next. */
  children?: ReactNode;
  acts?: ReactNode;
}

export function Empty({ icon, title, children, acts }: EmptyProps) {
  return (
    <div className={styles.state}>
      <span className={styles.icon}>
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {children && <p className={styles.text}>{children}</p>}
      {acts && <div className={styles.acts}>{acts}</div>}
    </div>
  );
}

/** Shown in place of data that could not be read. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, text } = explain(error);
  return (
    <div className={styles.state} role="alert">
      <span className={`${styles.icon} ${styles.bad}`}>
        <Icon name="alert" size={22} />
      </span>
      <h2>{title}</h2>
      <p className={styles.text}>{text}</p>
      {retry && (
        <div className={styles.acts}>
          <Button onClick={retry}>Try again</Button>
        </div>
      )}
      <ErrorDetails error={error} />
    </div>
  );
}

/** Shown beside a change that failed. `faults`: what no field of the form shows. Default: all of the error. */
export function Fault({ error, faults = [] }: { error: Error | null; faults?: readonly string[] }) {
  if (!error) return null;
  return (
    <div className={styles.fault} role="alert">
      <Icon name="alert" size={16} />
      <div>
        {faults.length === 0 && <p>{explain(error).text}</p>}
        {faults.length > 0 && (
          <ul>
            {faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        )}
        <ErrorDetails error={error} />
      </div>
    </div>
  );
}

/** Shown in place of something that the person may not see: names it, and who may see it. */
function Locked({ what, why }: { what: string; why: string }) {
  return (
    <div className={styles.state}>
      <span className={`${styles.icon} ${styles.locked}`}>
        <Icon name="lock" size={22} />
      </span>
      <h2>{what}</h2>
      <p className={styles.text}>{why}</p>
    </div>
  );
}

interface GuardedProps {
  needs: PermissionName;
  /** Completes the sentence `You cannot see Applications`. */
  what: string;
  children: ReactNode;
}

/** Renders its children only if the person has the permission, so that none of their calls is refused. */
export function Guarded({ needs, what, children }: GuardedProps) {
  const why = useMissingRight(needs);
  return why === undefined ? children : <Locked what={what} why={why} />;
}

interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** The result of a query, and what is shown before it and after a failure. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failed error={query.error} retry={() => query.refetch()} />;
  return <Loading />;
}

interface Explanation {
  title: string;
  /** What is wrong and what to do. */
  text: string;
}

function explain(error: unknown): Explanation {
  if (!(error instanceof SluiceError)) {
    return { title: 'This page has an error', text: error instanceof Error ? error.message : String(error) };
  }
  const { status, title, detail, errors } = error;
  if (status === undefined) {
    return { title: 'The service does not respond', text: 'Check your connection and try again.' };
  }
  if (status === 412) {
    const text =
      'Somebody else changed the resource after this page was loaded, so your action was not carried out. The page now shows the current state. Check this state, and try again.';
    return { title, text };
  }
  if (errors) {
    const faults = Object.entries(errors).map(([path, messages]) => otherFaultInWords(path, messages));
    return { title, text: faults.join(' ') };
  }
  if (status === 404) return { title: 'There is nothing here', text: detail ?? title };
  return { title, text: detail ?? title };
}
