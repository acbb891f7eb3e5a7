import type { ReactorFormula } from '@sluice/sdk';
import { useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import styles from './code.module.css';

type Configuration = Readonly<Record<string, string>>;
export type Declared = ReactorFormula['configuration'];

interface ConfigurationEditorProps {
  value: Configuration;
  onValue: (value: Configuration) => void;
  /** What a formula wants. To declare something else, mount it anew, with another `key`. */
  declared?: Declared | undefined;
}

/** Names and values, which code reads as `req.configuration`. Two rows of one name are one: the last. */
export function ConfigurationEditor({ value, onValue, declared = [] }: ConfigurationEditorProps) {
  const isDeclared = (name: string) => declared.some((member) => member.name === name);
  const [rows, setRows] = useState(() => Object.entries(value).filter(([name]) => !isDeclared(name)));
  const set = (changed: [string, string][]) => {
    setRows(changed);
    const own = Object.entries(value).filter(([name]) => isDeclared(name));
    onValue(Object.fromEntries([...changed.filter(([name]) => name !== '' && !isDeclared(name)), ...own]));
  };
  return (
    <fieldset className={styles.configuration}>
      <legend>Configuration</legend>
      <p>
        Values that code reads as req.configuration, for example a secret of the destination. They are stored encrypted.
      </p>
      <DeclaredFields declared={declared} value={value} onValue={onValue} />
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

const typeHints = { string: undefined, number: 'a number', boolean: 'true or false' } as const;

interface DeclaredFieldsProps {
  declared: Declared;
  value: Configuration;
  onValue: (value: Configuration) => void;
}

/** A field for each value that a formula wants. */
export function DeclaredFields({ declared, value, onValue }: DeclaredFieldsProps) {
  return declared.map(({ name, description, type }) => (
    <TextField
      key={name}
      mono
      label={name}
      hint={[description, typeHints[type]].filter(Boolean).join(': ')}
      value={value[name] ?? ''}
      onText={(text) => onValue({ ...value, [name]: text })}
    />
  ));
}
