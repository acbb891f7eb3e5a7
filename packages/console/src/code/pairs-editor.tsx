import { useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import styles from './code.module.css';

type Pairs = Readonly<Record<string, string>>;

interface PairsEditorProps {
  value: Pairs;
  onValue: (value: Pairs) => void;
  /** Of a pair, in capitals: how its parts are called, and an example of each. */
  words: { name: string; namePlaceholder: string; value: string; valuePlaceholder: string; add: string };
  /** Names that are edited elsewhere. */
  isElsewhere?: (name: string) => boolean;
}

const nowhere = () => false;

/** Rows of names and values. Two rows of one name are one: the last. */
export function PairsEditor({ value, onValue, words, isElsewhere = nowhere }: PairsEditorProps) {
  const [rows, setRows] = useState(() => Object.entries(value).filter(([name]) => !isElsewhere(name)));
  const set = (changed: [string, string][]) => {
    setRows(changed);
    const others = Object.entries(value).filter(([name]) => isElsewhere(name));
    onValue(Object.fromEntries([...changed.filter(([name]) => name !== '' && !isElsewhere(name)), ...others]));
  };
  return (
    <>
      {rows.map(([name, text], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name but its position while its name is written
        <div key={at} className={styles.pair}>
          <input
            aria-label={`${words.name} ${at + 1}`}
            placeholder={words.namePlaceholder}
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(rows.with(at, [event.target.value, text]))}
          />
          <input
            aria-label={`${words.value} ${at + 1}`}
            placeholder={words.valuePlaceholder}
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(rows.with(at, [name, event.target.value]))}
          />
          <IconButton
            small
            icon="close"
            label={`Remove ${words.value.toLowerCase()} ${at + 1}`}
            onClick={() => set(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => set([...rows, ['', '']])}>
          {words.add}
        </Button>
      </div>
    </>
  );
}
