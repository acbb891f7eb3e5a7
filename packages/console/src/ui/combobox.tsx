import { Combobox as Base } from '@base-ui/react/combobox';
import { type ReactNode, useEffect, useId, useState } from 'react';
import styles from './combo.module.css';
import { useFault } from './faults.tsx';
import { Icon } from './icon.tsx';

export interface Option {
  id: string;
  name: string;
  /** Said beside the name where options are of several kinds. */
  kind?: string;
}

export interface ComboProps {
  label: string;
  value: Option | undefined;
  options: readonly Option[];
  /** Below the options, read out when it changes. */
  note?: ReactNode;
  placeholder?: string;
  hint?: ReactNode;
  /** The path of the member that it sets in a form, by which it finds its faults. */
  member?: string;
  /** Beside its label, as a filter of a list. */
  isFilter?: boolean;
  /** The text by which options are searched; empty when it is opened, and when one was chosen. */
  onTyped: (text: string) => void;
  onValue: (id: string | undefined) => void;
  /** So that options need not be loaded before. */
  onOpen?: () => void;
}

/** What `Combo` shows once it is loaded. */
export function Combobox({
  label,
  value,
  options,
  note,
  placeholder,
  hint,
  member,
  isFilter = false,
  ...acts
}: ComboProps) {
  const { onTyped, onValue, onOpen } = acts;
  const id = useId();
  const fault = useFault(member, label);
  const name = value?.name ?? '';
  const [text, setText] = useState(name);
  useEffect(() => setText(name), [name]);
  return (
    <div className={isFilter ? styles.filter : styles.field}>
      <label htmlFor={id} className={isFilter ? undefined : styles.label}>
        {label}
      </label>
      <Base.Root
        items={options}
        filter={null}
        autoHighlight
        onOpenChange={(isOpen) => isOpen && onOpen?.()}
        value={value ?? null}
        isItemEqualToValue={(one: Option, other: Option) => one.id === other.id}
        itemToStringLabel={(option: Option) => option.name}
        inputValue={text}
        onInputValueChange={(typed, { reason }) => {
          // The name of what was chosen comes back with the value, if it is kept
          setText(reason === 'item-press' ? name : typed);
          onTyped(reason === 'input-change' ? typed.trim() : '');
        }}
        onValueChange={(chosen: Option | null) => onValue(chosen?.id)}
      >
        <Base.InputGroup className={styles.group}>
          <Base.Input
            id={id}
            className={styles.input}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={fault !== undefined}
            aria-describedby={[hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined}
          />
          <Base.Clear className={styles.button} aria-label={`Clear ${label}`} title="Clear">
            <Icon name="close" size={14} />
          </Base.Clear>
          <Base.Trigger className={styles.button} aria-label={`Show ${label}`}>
            <Icon name="down" size={14} />
          </Base.Trigger>
        </Base.InputGroup>
        <Base.Portal>
          <Base.Positioner className={styles.above} sideOffset={4} align="start" collisionPadding={8}>
            <Base.Popup className={styles.popup}>
              <Base.List className={styles.list}>
                {(option: Option) => (
                  <Base.Item key={option.id} value={option} className={styles.item} title={option.id}>
                    <Base.ItemIndicator className={styles.chosen}>
                      <Icon name="check" size={14} />
                    </Base.ItemIndicator>
                    <span className={styles.name}>{option.name}</span>
                    {option.kind && <span className={styles.kind}>{option.kind}</span>}
                  </Base.Item>
                )}
              </Base.List>
              <Base.Status className={styles.note}>{note}</Base.Status>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
      {hint && (
        <span className={styles.hint} id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span className={styles.fault} id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </div>
  );
}
