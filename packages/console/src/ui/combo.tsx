import { Combobox } from '@base-ui/react/combobox';
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

/** One of many options, chosen by typing a part of its name. */
export function Combo({
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
      <Combobox.Root
        items={options}
        filter={null}
        autoHighlight
        onOpenChange={(isOpen) => isOpen && onOpen?.()}
        value={value ?? null}
        isItemEqualToValue={(one: Option, other: Option) => one.id === other.id}
        itemToStringLabel={(option: Option) => option.name}
        inputValue={text}
        onInputValueChange={(typed, { reason }) => {
          setText(typed);
          onTyped(reason === 'input-change' ? typed.trim() : '');
        }}
        onValueChange={(chosen: Option | null) => onValue(chosen?.id)}
      >
        <Combobox.InputGroup className={styles.group}>
          <Combobox.Input
            id={id}
            className={styles.input}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={fault !== undefined}
            aria-describedby={[hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined}
          />
          <Combobox.Clear className={styles.button} aria-label={`Clear ${label}`} title="Clear">
            <Icon name="close" size={14} />
          </Combobox.Clear>
          <Combobox.Trigger className={styles.button} aria-label={`Show ${label}`}>
            <Icon name="down" size={14} />
          </Combobox.Trigger>
        </Combobox.InputGroup>
        <Combobox.Portal>
          <Combobox.Positioner className={styles.above} sideOffset={4} align="start" collisionPadding={8}>
            <Combobox.Popup className={styles.popup}>
              <Combobox.List className={styles.list}>
                {(option: Option) => (
                  <Combobox.Item key={option.id} value={option} className={styles.item} title={option.id}>
                    <Combobox.ItemIndicator className={styles.chosen}>
                      <Icon name="check" size={14} />
                    </Combobox.ItemIndicator>
                    <span className={styles.name}>{option.name}</span>
                    {option.kind && <span className={styles.kind}>{option.kind}</span>}
                  </Combobox.Item>
                )}
              </Combobox.List>
              <Combobox.Status className={styles.note}>{note}</Combobox.Status>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
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
