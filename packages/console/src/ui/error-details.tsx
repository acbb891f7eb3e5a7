import { SluiceError } from '@sluice/sdk';
import { useState } from 'react';
import { CopyButton } from './copy.tsx';
import styles from './states.module.css';

/** What an operator or a developer asks for, folded away and to be copied: trace id, type, and the members as the API names them. */
export function ErrorDetails({ error }: { error: unknown }) {
  const [isOpen, setOpen] = useState(false);
  if (!(error instanceof SluiceError)) return null;
  const { status, code, detail, errors = {}, traceId } = error;
  const facts: [name: string, value: string | undefined][] = [
    ['Trace id', traceId],
    ['Type', code],
    ['Status', status?.toString()],
    ['Detail', detail],
    ...Object.entries(errors).map(([path, messages]): [string, string] => [path || 'body', messages.join(', ')]),
  ];
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  if (known.length === 0) return null;
  return (
    <details className={styles.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Details</summary>
      {isOpen && (
        <>
          <dl>
            {known.map(({ name, value }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <CopyButton text={known.map(({ name, value }) => `${name}: ${value}`).join('\n')} what="the details" />
        </>
      )}
    </details>
  );
}
