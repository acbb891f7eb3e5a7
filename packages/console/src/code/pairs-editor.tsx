import { useId, useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { useFault } from '../ui/faults.tsx';
import styles from './code.module.css';

type Pairs = Readonly<Record<string, string>>;

type Words = { name: string; namePlaceholder: string; value: string; valuePlaceholder: string; add: string };

interface PairsEditorProps {
  /** The path of the member that the pairs set. */
  name: string;
  value: Pairs;
  onValue: (value: Pairs) => void;
  /** Of a pair, in capitals: how its parts are called, and an example of each. */
  words: Words;
  /** Names that are edited elsewhere. */
  isElsewhere?: (name: string) => boolean;
}

const nowhere = () => false;

/** Rows of names and values. Two rows of one name are one: the last. */
export function PairsEditor({ name: member, value, onValue, words, isElsewhere = nowhere }: PairsEditorProps) {
  const [rows, setRows] = useState(() => Object.entries(value).filter(([name]) => !isElsewhere(name)));
  const set = (changed: [string, string][]) => {
    setRows(changed);
    const others = Object.entries(value).filter(([name]) => isElsewhere(name));
    onValue(Object.fromEntries([...changed.filter(([name]) => name !== '' && !isElsewhere(name)), ...others]));
  };
  return (
    <>
      {rows.map(([name, text], at) => (
        <Pair
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name but its position while its name is written
          key={at}
          path={`${member}.${name}`}
          at={at}
          name={name}
          text={text}
          words={words}
          onPair={(pair) => set(rows.with(at, pair))}
          onRemove={() => set(rows.toSpliced(at, 1))}
        />
      ))}
      <div>
        <Button small icon="plus" onClick={() => set([...rows, ['', '']])}>
          {words.add}
        </Button>
      </div>
    </>
  );
}

interface PairProps {
  /** Of its member. */
  path: string;
  at: number;
  name: string;
  text: string;
  words: Words;
  onPair: (pair: [name: string, text: string]) => void;
  onRemove: () => void;
}

function Pair({ path, at, name, text, words, onPair, onRemove }: PairProps) {
  const fault = useFault(name === '' ? undefined : path, name);
  const id = useId();
  return (
    <div className={styles.pair}>
      <input
        aria-label={`${words.name} ${at + 1}`}
        placeholder={words.namePlaceholder}
        value={name}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onPair([event.target.value, text])}
      />
      <input
        aria-label={`${words.value} ${at + 1}`}
        aria-invalid={fault !== undefined}
        aria-describedby={fault && id}
        placeholder={words.valuePlaceholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onPair([name, event.target.value])}
      />
      <IconButton small icon="close" label={`Remove ${words.value.toLowerCase()} ${at + 1}`} onClick={onRemove} />
      {fault && (
        <span className={styles.fault} id={id}>
          {fault}
        </span>
      )}
    </div>
  );
}
