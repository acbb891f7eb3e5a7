import type { ReactorFormula } from '@sluice/sdk';
import { Group } from '../ui/faults.tsx';
import { TextField } from '../ui/form.tsx';
import styles from './code.module.css';
import { PairsEditor } from './pairs-editor.tsx';

type Configuration = Readonly<Record<string, string>>;
export type Declared = ReactorFormula['configuration'];

interface ConfigurationEditorProps {
  value: Configuration;
  onValue: (value: Configuration) => void;
  /** What a formula wants. To declare something else, mount it anew, with another `key`. */
  declared?: Declared | undefined;
}

const words = {
  ...{ name: 'Name', namePlaceholder: 'NAME', value: 'Value', valuePlaceholder: 'value' },
  add: 'Add a value',
};

/** Names and values, which code reads as `req.configuration`. */
export function ConfigurationEditor({ value, onValue, declared = [] }: ConfigurationEditorProps) {
  const isDeclared = (name: string) => declared.some((member) => member.name === name);
  return (
    <Group name="configuration" legend="Configuration" className={styles.configuration}>
      <p>
        The code reads these values as req.configuration. A value can be, for example, a secret of the destination. The
        values are stored encrypted.
      </p>
      <DeclaredFields declared={declared} value={value} onValue={onValue} />
      <PairsEditor name="configuration" value={value} onValue={onValue} words={words} isElsewhere={isDeclared} />
    </Group>
  );
}

const typeHints = { string: undefined, number: 'a number', boolean: 'true or false' } as const;

interface DeclaredFieldsProps {
  declared: Declared;
  value: Configuration;
  onValue: (value: Configuration) => void;
}

/** A field for each value that a formula wants. */
export function DeclaredFields({ declared, value, onValue }: DeclaredFieldsProps) {
  return declared.map(({ name, description, type }) => (
    <TextField
      key={name}
      mono
      label={name}
      name={`configuration.${name}`}
      hint={[description, typeHints[type]].filter(Boolean).join(': ')}
      value={value[name] ?? ''}
      onText={(text) => onValue({ ...value, [name]: text })}
    />
  ));
}
