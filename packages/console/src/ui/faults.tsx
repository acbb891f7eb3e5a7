import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useId,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react';
import { type Faults, faultInWords, faultsIn, fieldOf } from './faults-in-words.ts';
import styles from './form.module.css';

interface FormFaults {
  faults: Faults;
  /** Of the fields on the screen. */
  names: readonly string[];
  /** Called when a field appears. @returns what is called when it disappears. */
  add: (name: string) => () => void;
}

const OfForm = createContext<FormFaults>({ faults: [], names: [], add: () => () => undefined });

/** Shares the faults of a form among the fields in it, each by its name, and finds those that no field shows. */
export function useFormFaults(error: Error | null) {
  const [names, setNames] = useState<readonly string[]>([]);
  const add = useCallback((name: string) => {
    setNames((former) => [...former, name]);
    return () => setNames((former) => former.toSpliced(former.indexOf(name), 1));
  }, []);
  const shared = useMemo(() => ({ faults: faultsIn(error, names), names, add }), [error, names, add]);
  const others = shared.faults.filter(([path]) => fieldOf(path, names) === undefined);
  const isShown = shared.faults.length > 0 && others.length === 0;
  return { shared, others, isShown };
}

export function FormFaultsProvider({ shared, children }: { shared: FormFaults; children: ReactNode }) {
  return <OfForm value={shared}>{children}</OfForm>;
}

/**
 * What the service says about the member that this field sets, as sentences.
 * @param name the path of the member in the body: `rules[0].container`. Without one the field has no faults.
 */
export function useFault(name: string | undefined, label: string): string | undefined {
  const { faults, names, add } = useContext(OfForm);
  useLayoutEffect(() => (name === undefined ? undefined : add(name)), [name, add]);
  if (name === undefined) return undefined;
  const own = faults.filter(([path]) => fieldOf(path, names) === name);
  const sentences = own.map(([path, messages]) => faultInWords(path, messages, { name, label }));
  return sentences.length > 0 ? sentences.join(' ') : undefined;
}

interface GroupProps {
  /** Of the member that the fields in it set together. */
  name?: string | undefined;
  legend: string;
  className?: string | undefined;
  children: ReactNode;
}

/** Fields that set one member together. Shows what the service says about the member below them. */
export function Group({ name, legend, className, children }: GroupProps) {
  const id = useId();
  const fault = useFault(name, legend);
  return (
    <fieldset className={className} data-invalid={fault !== undefined} aria-describedby={fault && id}>
      <legend>{legend}</legend>
      {children}
      {fault && (
        <span className={styles.error} id={id}>
          {fault}
        </span>
      )}
    </fieldset>
  );
}

/** The first field that has a fault gets the focus, also one that was folded away. */
export function focusFirstFault(form: HTMLElement): void {
  const found = form.querySelector<HTMLElement>('[aria-invalid="true"], fieldset[data-invalid="true"]');
  for (let at = found?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true;
  const field = found?.matches('fieldset')
    ? found.querySelector<HTMLElement>('input, select, textarea, button')
    : found;
  field?.focus();
}
