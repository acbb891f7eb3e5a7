import { SluiceError } from '@sluice/sdk';
import { type ComponentProps, type FormEvent, type ReactNode, useId } from 'react';
import styles from './form.module.css';
import { Fault } from './states.tsx';

interface FormProps {
  onSubmit: () => void;
  /** The error of the last attempt. Each field shows its own faults, by {@link faultOf}; this shows the others. */
  error: Error | null;
  children: ReactNode;
  acts: ReactNode;
}

export function Form({ onSubmit, error, children, acts }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      {children}
      <Fault error={error} />
      <div className={styles.acts}>{acts}</div>
    </form>
  );
}

/** The service's faults of one member of the body. */
export function faultOf(error: Error | null, member: string): string | undefined {
  return error instanceof SluiceError ? error.errors?.[member]?.join(', ') : undefined;
}

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

/** The service's faults of a list and of its entries, which count from 1. */
export function faultsOfList(error: Error | null, member: string): string | undefined {
  if (!(error instanceof SluiceError)) return undefined;
  const faults = Object.entries(error.errors ?? {}).flatMap(([path, messages]) => {
    if (path === member) return messages;
    const [, position] = path.startsWith(`${member}[`) ? (/^\[(\d+)\]$/.exec(path.slice(member.length)) ?? []) : [];
    return position === undefined ? [] : [`Entry ${Number(position) + 1} ${messages.join(', ')}`];
  });
  return faults.length > 0 ? faults.join('; ') : undefined;
}

function Field({ id, label, hint, error, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children}
      {hint && (
        <span className={styles.hint} id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span className={styles.error} id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}

const describe = (id: string, { hint, error }: FieldProps) => ({
  id,
  'aria-invalid': error !== undefined,
  'aria-describedby': [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
});

type Changed<T> = Omit<T, 'onChange' | 'className'> & { onText: (text: string) => void; mono?: boolean };

export function TextField({
  label,
  hint,
  error,
  onText,
  mono = false,
  ...rest
}: FieldProps & Changed<ComponentProps<'input'>>) {
  const id = useId();
  const field = { label, hint, error };
  return (
    <Field id={id} {...field}>
      <input
        autoComplete="off"
        spellCheck={!mono}
        {...rest}
        {...describe(id, field)}
        className={`${styles.control} ${mono ? styles.mono : ''}`}
        onChange={(event) => onText(event.target.value)}
      />
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  onText,
  mono = false,
  ...rest
}: FieldProps & Changed<ComponentProps<'textarea'>>) {
  const id = useId();
  const field = { label, hint, error };
  return (
    <Field id={id} {...field}>
      <textarea
        spellCheck={!mono}
        {...rest}
        {...describe(id, field)}
        className={`${styles.control} ${mono ? styles.mono : ''}`}
        onChange={(event) => onText(event.target.value)}
      />
    </Field>
  );
}

interface ChoiceProps<Value extends string> extends FieldProps {
  value: Value;
  /** Names by value, in their order. */
  options: Readonly<Partial<Record<Value, string>>>;
  onValue: (value: Value) => void;
  disabled?: boolean;
  /** The empty value is no choice. */
  required?: boolean;
}

/** One of a few. */
export function Choice<Value extends string>({
  label,
  hint,
  error,
  value,
  options,
  onValue,
  disabled,
  required,
}: ChoiceProps<Value>) {
  const id = useId();
  const field = { label, hint, error };
  return (
    <Field id={id} {...field}>
      <select
        {...describe(id, field)}
        className={styles.control}
        value={value}
        disabled={disabled}
        required={required}
        onChange={(event) => onValue(event.target.value as Value)}
      >
        {Object.entries<string | undefined>(options).map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface CheckProps {
  label: ReactNode;
  hint?: ReactNode;
  checked: boolean;
  onChecked: (checked: boolean) => void;
  disabled?: boolean;
}

export function Check({ label, hint, checked, onChecked, disabled }: CheckProps) {
  return (
    <label className={styles.check}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.target.checked)}
      />
      <span>
        {label}
        {hint && <small>{hint}</small>}
      </span>
    </label>
  );
}

/** Fields side by side where there is room. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}
