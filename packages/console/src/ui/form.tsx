import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { Button, type ButtonProps } from './button.tsx';
import { FormFaultsProvider, focusFirstFault, useFault, useFormFaults } from './faults.tsx';
import { otherFaultInWords } from './faults-in-words.ts';
import styles from './form.module.css';
import { shortcuts } from './shortcuts.ts';
import { Fault } from './states.tsx';

interface FormProps {
  onSubmit: () => void;
  /** The error of the last attempt. Each field shows what is about its `name`; the form shows the rest above its buttons. */
  error: Error | null;
  /** As wide as its card, for code and tables. Otherwise fields are as wide as what is written into them. */
  wide?: boolean;
  children: ReactNode;
  acts: ReactNode;
}

export function Form({ onSubmit, error, wide = false, children, acts }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { shared, others, isShown } = useFormFaults(error);
  useEffect(() => {
    if (error && form.current) focusFirstFault(form.current);
  }, [error]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form ref={form} className={`${styles.form} ${wide ? '' : styles.narrow}`} onSubmit={submit}>
      <FormFaultsProvider shared={shared}>{children}</FormFaultsProvider>
      {!isShown && <Fault error={error} faults={others.map(([path, messages]) => otherFaultInWords(path, messages))} />}
      <div className={styles.acts}>{acts}</div>
    </form>
  );
}

/** Saves what the form around it has. `refusal` of {@link Button}: why it cannot. */
export function Submit(props: Omit<ButtonProps, 'kind' | 'type' | 'title'>) {
  return <Button kind="primary" type="submit" {...shortcuts.save} {...props} />;
}

interface FieldProps {
  label: string;
  /** The path of the member that it sets, by which it finds its faults: `rules[0].container`. */
  name?: string | undefined;
  hint?: ReactNode;
  /** Found in the browser. */
  error?: string | undefined;
}

function Field({ id, label, hint, error, children }: Omit<FieldProps, 'name'> & { id: string; children: ReactNode }) {
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

type Changed<T> = Omit<T, 'onChange' | 'className' | 'name'> & { onText: (text: string) => void; mono?: boolean };

export function TextField({
  label,
  name,
  hint,
  error,
  onText,
  mono = false,
  ...rest
}: FieldProps & Changed<ComponentProps<'input'>>) {
  const id = useId();
  const fault = useFault(name, label);
  const field = { label, hint, error: error ?? fault };
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
  name,
  hint,
  error,
  onText,
  mono = false,
  ...rest
}: FieldProps & Changed<ComponentProps<'textarea'>>) {
  const id = useId();
  const fault = useFault(name, label);
  const field = { label, hint, error: error ?? fault };
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
  name,
  hint,
  error,
  value,
  options,
  onValue,
  disabled,
  required,
}: ChoiceProps<Value>) {
  const id = useId();
  const fault = useFault(name, label);
  const field = { label, hint, error: error ?? fault };
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
