import { useState } from 'react';
import { Code } from '../ui/copy.tsx';
import styles from './snippet.module.css';
import type { Lines } from './snippets.ts';

const clients = { curl: 'curl', typescript: 'TypeScript' } as const satisfies Record<keyof Lines, string>;

interface SnippetProps {
  lines: Lines;
  /** Completes `Copy …`. */
  what: string;
}

/** Beside a call whose body is `"{{ id }}"`: a card arrives as an object, which surprises. */
export function HowValuesAreWritten() {
  return (
    <p>
      If a JSON string contains only an expression, the value replaces the whole string, with its quotes. So a card is
      sent as an object. To send only one member of the card, use the filter json, as in{' '}
      <code>{"{{ id | json: '$.number' }}"}</code> (guide Filters).
    </p>
  );
}

/** A call to copy, for the client that the person uses. */
export function Snippet({ lines, what }: SnippetProps) {
  const [client, setClient] = useState<keyof Lines>('curl');
  return (
    <div className={styles.snippet}>
      <fieldset className={styles.clients}>
        <legend className="unseen">Client for {what}</legend>
        {Object.entries(clients).map(([each, name]) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === client}
            onClick={() => setClient(each as keyof Lines)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <Code text={lines[client]} what={what} />
    </div>
  );
}
