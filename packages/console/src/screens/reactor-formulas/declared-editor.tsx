import type { ReactorFormula } from '@sluice/sdk';
import { useId } from 'react';
import styles from '../../code/code.module.css';
import { Button, IconButton } from '../../ui/button.tsx';
import { Group, useFault } from '../../ui/faults.tsx';

export type Parameter = ReactorFormula['request_parameters'][number];

interface DeclaredEditorProps {
  /** The path of the member that it sets. */
  name: string;
  /** Of all of them, and of one: `Argument`. */
  legend: string;
  one: string;
  intro: string;
  members: readonly Parameter[];
  onMembers: (members: Parameter[]) => void;
  /** Whether each can be left out by callers. */
  canBeOptional?: boolean;
}

const types: readonly Parameter['type'][] = ['string', 'number', 'boolean'];

/** What a formula wants: names, types and descriptions. */
export function DeclaredEditor({ name, legend, one, intro, members, onMembers, canBeOptional }: DeclaredEditorProps) {
  const change = (at: number, part: Partial<Parameter>) =>
    onMembers(members.map((member, position) => (position === at ? { ...member, ...part } : member)));
  return (
    <Group name={name} legend={legend} className={styles.configuration}>
      <p>{intro}</p>
      {members.map((member, at) => (
        <Declared
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name but its position while its name is written
          key={at}
          path={`${name}[${at}]`}
          called={`${one} ${at + 1}`}
          member={member}
          onChange={(part) => change(at, part)}
          onRemove={() => onMembers(members.toSpliced(at, 1))}
          canBeOptional={canBeOptional}
        />
      ))}
      <div>
        <Button small icon="plus" onClick={() => onMembers([...members, { name: '', type: 'string' }])}>
          Add {one === 'Argument' ? 'an argument' : 'a value'}
        </Button>
      </div>
    </Group>
  );
}

interface DeclaredProps {
  path: string;
  called: string;
  member: Parameter;
  onChange: (part: Partial<Parameter>) => void;
  onRemove: () => void;
  canBeOptional: boolean | undefined;
}

function Declared({ path, called, member, onChange, onRemove, canBeOptional }: DeclaredProps) {
  const { name, type, description = '', optional = false } = member;
  const ofName = useFault(`${path}.name`, 'The name');
  const ofDescription = useFault(`${path}.description`, 'The description');
  const fault = [ofName, ofDescription].filter(Boolean).join(' ');
  const id = useId();
  return (
    <div className={styles.declared}>
      <input
        aria-label={`${called}: name`}
        aria-invalid={ofName !== undefined}
        aria-describedby={ofName && id}
        placeholder="NAME"
        value={name}
        required
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <select
        aria-label={`${called}: type`}
        value={type}
        onChange={(event) => onChange({ type: types.find((each) => each === event.target.value) ?? type })}
      >
        {types.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <input
        className={styles.about}
        aria-label={`${called}: description`}
        aria-invalid={ofDescription !== undefined}
        aria-describedby={ofDescription && id}
        placeholder="Purpose"
        value={description}
        autoComplete="off"
        onChange={(event) => onChange({ description: event.target.value })}
      />
      {canBeOptional && (
        <label>
          <input
            type="checkbox"
            checked={optional}
            onChange={(event) => onChange({ optional: event.target.checked })}
          />
          optional
        </label>
      )}
      <IconButton small icon="close" label={`Remove ${called.toLowerCase()}`} onClick={onRemove} />
      {fault && (
        <span className={styles.fault} id={id}>
          {fault}
        </span>
      )}
    </div>
  );
}
