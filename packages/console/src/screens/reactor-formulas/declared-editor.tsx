import type { ReactorFormula } from '@sluice/sdk';
import styles from '../../code/code.module.css';
import { Button, IconButton } from '../../ui/button.tsx';

export type Parameter = ReactorFormula['request_parameters'][number];

interface DeclaredEditorProps {
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
export function DeclaredEditor({ legend, one, intro, members, onMembers, canBeOptional }: DeclaredEditorProps) {
  const change = (at: number, part: Partial<Parameter>) =>
    onMembers(members.map((member, position) => (position === at ? { ...member, ...part } : member)));
  return (
    <fieldset className={styles.configuration}>
      <legend>{legend}</legend>
      <p>{intro}</p>
      {members.map(({ name, type, description = '', optional = false }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name but its position while its name is written
        <div key={at} className={styles.declared}>
          <input
            aria-label={`${one} ${at + 1}: name`}
            placeholder="NAME"
            value={name}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => change(at, { name: event.target.value })}
          />
          <select
            aria-label={`${one} ${at + 1}: type`}
            value={type}
            onChange={(event) => change(at, { type: types.find((each) => each === event.target.value) ?? type })}
          >
            {types.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <input
            className={styles.about}
            aria-label={`${one} ${at + 1}: description`}
            placeholder="What it is for"
            value={description}
            autoComplete="off"
            onChange={(event) => change(at, { description: event.target.value })}
          />
          {canBeOptional && (
            <label>
              <input
                type="checkbox"
                checked={optional}
                onChange={(event) => change(at, { optional: event.target.checked })}
              />
              optional
            </label>
          )}
          <IconButton
            small
            icon="close"
            label={`Remove ${one.toLowerCase()} ${at + 1}`}
            onClick={() => onMembers(members.toSpliced(at, 1))}
          />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onMembers([...members, { name: '', type: 'string' }])}>
          Add {one === 'Argument' ? 'an argument' : 'a value'}
        </Button>
      </div>
    </fieldset>
  );
}
