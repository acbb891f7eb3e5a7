import { useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import styles from './code.module.css';

type Configuration = Readonly<Record<string, string>>;

interface ConfigurationEditorProps {
  value: Configuration;
  onValue: (value: Configuration) => void;
}

/** Names and values, which code reads as `req.configuration`. Two rows of one name are one: the last. */
export function ConfigurationEditor({ value, onValue }: ConfigurationEditorProps) {
  const [rows, setRows] = useState(() => Object.entries(value));
  const set = (changed: [string, string][]) => {
    setRows(changed);
    onValue(Object.fromEntries(changed.filter(([name]) => name !== '')));
  };
  return (
    <fieldset className={styles.configuration}>
      <legend>Configuration</legend>
      <p>
        Values that code reads as req.configuration, for example a secret of the destination. They are stored encrypted.
      </p>
      {rows.map(([name, text], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name but its position while its name is written
        <div key={at} className={styles.pair}>
          <input
            aria-label={`Name ${at + 1}`}
            placeholder="NAME"
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(rows.with(at, [event.target.value, text]))}
          />
          <input
            aria-label={`Value ${at + 1}`}
            placeholder="value"
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(rows.with(at, [name, event.target.value]))}
          />
          <IconButton small icon="close" label={`Remove value ${at + 1}`} onClick={() => set(rows.toSpliced(at, 1))} />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => set([...rows, ['', '']])}>
          Add a value
        </Button>
      </div>
    </fieldset>
  );
}
