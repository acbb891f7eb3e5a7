import type { AccessRule, Permission } from '@sluice/sdk';
import { IconButton } from '../../ui/button.tsx';
import { Group } from '../../ui/faults.tsx';
import { Check, Choice, Row, TextField } from '../../ui/form.tsx';
import styles from './applications.module.css';

/** What each transform lets callers see of a value. */
const transforms: Readonly<Record<AccessRule['transform'], string>> = {
  redact: 'Redact: nothing',
  mask: 'Mask: the masked value',
  reveal: 'Reveal: the plaintext',
};

interface RuleEditorProps {
  position: number;
  rule: AccessRule;
  permissions: readonly Permission[];
  onRule: (rule: AccessRule) => void;
  onRemove: () => void;
}

export function RuleEditor({ position, rule, permissions, onRule, onRemove }: RuleEditorProps) {
  const path = `rules[${position}]`;
  const { description = '', priority, container = '', transform, permissions: granted } = rule;
  return (
    <Group name={path} legend={`Rule ${position + 1}`} className={styles.rule}>
      <div className={styles.remove}>
        <IconButton small icon="close" label={`Remove rule ${position + 1}`} onClick={onRemove} />
      </div>
      <Row>
        <TextField
          label="Container"
          name={`${path}.container`}
          mono
          value={container}
          onText={(text) => onRule({ ...rule, container: text })}
        />
        <Choice
          label="Callers see"
          name={`${path}.transform`}
          value={transform}
          options={transforms}
          onValue={(chosen) => onRule({ ...rule, transform: chosen })}
        />
        <TextField
          label="Priority"
          name={`${path}.priority`}
          type="number"
          min={1}
          value={priority}
          onText={(text) => onRule({ ...rule, priority: Number(text) })}
        />
      </Row>
      <Group name={`${path}.permissions`} legend="Permissions" className={styles.checks}>
        {permissions.map(({ type }) => (
          <Check
            key={type}
            label={<code>{type}</code>}
            checked={granted.includes(type)}
            onChecked={(isChosen) =>
              onRule({ ...rule, permissions: isChosen ? [...granted, type] : granted.filter((one) => one !== type) })
            }
          />
        ))}
      </Group>
      <TextField
        label="Description"
        name={`${path}.description`}
        value={description}
        placeholder="Purpose"
        onText={(text) => onRule({ ...rule, description: text })}
      />
    </Group>
  );
}
