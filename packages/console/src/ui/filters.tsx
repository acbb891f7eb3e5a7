import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import styles from './filters.module.css';
import { localText } from './moment.ts';

/** The filters of the list below. Each is in the address, so that the filtered list can be shared. */
export function Filters({ children }: { children: ReactNode }) {
  return <search className={styles.filters}>{children}</search>;
}

interface PickProps<Value extends string> {
  label: string;
  value: Value;
  /** Names by value, in their order. */
  options: Readonly<Record<Value, string>>;
  onValue: (value: Value) => void;
}

export function Pick<Value extends string>({ label, value, options, onValue }: PickProps<Value>) {
  return (
    <label className={styles.pick}>
      {label}
      <select className={styles.control} value={value} onChange={(event) => onValue(event.target.value as Value)}>
        {Object.entries<string>(options).map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FindProps {
  label: string;
  value: string;
  placeholder?: string;
  /** Called on Enter, and when the field loses the focus. */
  onValue: (value: string) => void;
}

export function Find({ label, value, placeholder, onValue }: FindProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => text !== value && onValue(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    done();
  };
  return (
    <form onSubmit={submit} className={styles.text}>
      <label className={`${styles.pick} ${styles.text}`}>
        {label}
        <input
          className={styles.control}
          value={text}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={done}
        />
      </label>
    </form>
  );
}

interface MomentProps {
  label: string;
  /** ISO 8601. */
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}

/** A moment in the reader's zone. In the address it is in UTC, so that a link means the same everywhere. */
export function Moment({ label, value, onValue }: MomentProps) {
  const local = localText(value);
  const [text, setText] = useState(local);
  useEffect(() => setText(local), [local]);
  const change = (typed: string) => {
    setText(typed);
    const moment = new Date(typed);
    if (typed === '') onValue(undefined);
    else if (moment.getFullYear() >= firstYear) onValue(moment.toISOString());
  };
  return (
    <label className={styles.pick}>
      {label}
      <input
        className={styles.control}
        type="datetime-local"
        value={text}
        onChange={(event) => change(event.target.value)}
      />
    </label>
  );
}

/** While somebody types a year, it has fewer digits. */
const firstYear = 1970;
