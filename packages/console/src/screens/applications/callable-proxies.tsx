import type { Application } from '@sluice/sdk';
import { useMissingRight } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Group } from '../../ui/faults.tsx';
import { Check } from '../../ui/form.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { Picker } from '../../ui/picker.tsx';
import styles from './applications.module.css';

/** Which Proxies a private Application may call. */
export function CallableProxies({ proxies }: { proxies: Application['proxies'] }) {
  const names = useNames('proxies', proxies ?? []);
  const isKnown = useMissingRight('proxy:read') === undefined && names.size > 0;
  if (!proxies) return <Soft>every Proxy of the Tenant</Soft>;
  return (
    <ul className={styles.callable}>
      {proxies.map((id) => (
        <li key={id}>
          <ThingLink type="proxy" id={id} name={names.get(id)} />{' '}
          {isKnown && !names.has(id) && <Badge tone="bad">deleted</Badge>}
        </li>
      ))}
    </ul>
  );
}

interface ProxiesPickerProps {
  hint: string;
  /** What may be chosen besides what is chosen. Default: every Proxy. */
  among?: readonly string[] | undefined;
  /** Null for every Proxy. */
  chosen: readonly string[] | null;
  onChosen: (chosen: string[] | null) => void;
  /** The path of the member that it sets. */
  name: string;
}

export function ProxiesPicker({ hint, among, chosen, onChosen, name: member }: ProxiesPickerProps) {
  const options = among ?? chosen ?? [];
  const names = useNames('proxies', options);
  return (
    <Group name={member} legend="Proxies" className={styles.fieldset}>
      <p className={styles.hint}>{hint}</p>
      <Check
        label="Only certain Proxies"
        checked={chosen !== null}
        onChecked={(isBound) => onChosen(isBound ? [] : null)}
      />
      {chosen !== null && (
        <>
          {options.length > 0 && (
            <div className={styles.group}>
              {options.map((id) => (
                <Check
                  key={id}
                  label={names.get(id) ?? id}
                  checked={chosen.includes(id)}
                  onChecked={(isChosen) => onChosen(isChosen ? [...chosen, id] : chosen.filter((one) => one !== id))}
                />
              ))}
            </div>
          )}
          {!among && (
            <Picker
              of="proxies"
              label="Add a Proxy"
              placeholder="Name or id"
              value={undefined}
              suits={({ id }) => !chosen.includes(id)}
              onValue={(id) => id !== undefined && onChosen([...chosen, id])}
            />
          )}
        </>
      )}
    </Group>
  );
}
