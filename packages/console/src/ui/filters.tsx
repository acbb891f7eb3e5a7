import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import styles from './filters.module.css';
import { useMomentText } from './moment-field.tsx';

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

/** A moment in the zone that the person has chosen. */
export function Moment({ label, value, onValue }: MomentProps) {
  const { text, onText } = useMomentText({ value, onValue });
  return (
    <label className={styles.pick}>
      {label}
      <input
        className={styles.control}
        type="datetime-local"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    </label>
  );
}
