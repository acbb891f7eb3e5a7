import { Children, type FormEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from './button.tsx';
import styles from './filters.module.css';
import { Icon } from './icon.tsx';
import { useMomentText } from './moment-field.tsx';

interface FiltersProps {
  /** What the rows are, where a screen has several lists. */
  label?: string;
  /** Clears all filters. Undefined if none is set. */
  onClear?: (() => void) | undefined;
  /** What can be done with the filtered list. */
  acts?: ReactNode;
  children: ReactNode;
}

/** So many fit into one or two lines with their labels beside them. */
const mostInLines = 5;

/** The filters of the list below. Each is in the address, so that the filtered list can be shared. */
export function Filters({ label, onClear, acts, children }: FiltersProps) {
  const isMany = Children.count(children) > mostInLines;
  return (
    <search className={`${styles.filters} ${isMany ? styles.many : ''}`} aria-label={label && `Filters of ${label}`}>
      {children}
      {onClear && (
        <Button small kind="plain" onClick={onClear}>
          Clear all
        </Button>
      )}
      {acts && <div className={styles.acts}>{acts}</div>}
    </search>
  );
}

/** A filter, and beside it a button that clears it. The name of the button is text, so that the label is the field's alone. */
function Clearable({
  label,
  onClear,
  children,
}: {
  label: string;
  onClear: (() => void) | undefined;
  children: ReactNode;
}) {
  return (
    <div className={`${styles.clearable} ${onClear ? styles.isSet : ''}`}>
      {children}
      {onClear && (
        <button type="button" className={styles.clear} title="Clear" onClick={onClear}>
          <Icon name="close" size={14} />
          <span className="unseen">Clear {label}</span>
        </button>
      )}
    </div>
  );
}

interface PickProps<Value extends string> {
  label: string;
  value: Value;
  /** Names by value, in their order. The first one filters nothing. */
  options: Readonly<Record<Value, string>>;
  onValue: (value: Value) => void;
}

export function Pick<Value extends string>({ label, value, options, onValue }: PickProps<Value>) {
  const [none] = Object.keys(options) as Value[];
  return (
    <Clearable label={label} onClear={none === undefined || value === none ? undefined : () => onValue(none)}>
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
    </Clearable>
  );
}

interface FindProps {
  label: string;
  value: string;
  placeholder?: string | undefined;
  /** Applied while somebody types, and not only on Enter and when the field loses the focus. Not for what must be complete. */
  live?: boolean;
  onValue: (value: string) => void;
}

/** Typing pauses at least so long before it is applied, in ms. */
const pauseMs = 250;

export function Find({ label, value, placeholder, live = false, onValue }: FindProps) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  /**
   * The value, and after it those that were applied but are not the value yet. When one of them arrives, somebody may have typed
   * more, which stays. Any other value comes from elsewhere, such as the browser's way back, and replaces what was typed.
   */
  const applied = useRef([value]);
  useEffect(() => {
    const at = applied.current.indexOf(value);
    if (at === -1) setText(value);
    applied.current = at === -1 ? [value] : applied.current.slice(at);
  }, [value]);
  const apply = (typed: string) => {
    const next = typed.trim();
    if (next === applied.current.at(-1)) return;
    applied.current.push(next);
    onValue(next);
  };
  const onPause = useEffectEvent(apply);
  useEffect(() => {
    if (!live) return;
    const timer = setTimeout(() => onPause(text), pauseMs);
    return () => clearTimeout(timer);
  }, [live, text]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply(text);
  };
  const clear = () => {
    setText('');
    apply('');
    field.current?.focus();
  };
  return (
    <form onSubmit={submit} className={styles.text}>
      <Clearable label={label} onClear={text === '' ? undefined : clear}>
        <label className={styles.pick}>
          {label}
          <input
            ref={field}
            className={styles.control}
            value={text}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
            onBlur={() => apply(text)}
          />
        </label>
      </Clearable>
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
    <Clearable label={label} onClear={text === '' ? undefined : () => onText('')}>
      <label className={styles.pick}>
        {label}
        <input
          className={styles.control}
          type="datetime-local"
          value={text}
          onChange={(event) => onText(event.target.value)}
        />
      </label>
    </Clearable>
  );
}
