import type { Application } from '@sluice/sdk';
import { useMissingRight } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { useProxies } from '../../code/use-proxies.ts';
import { Group } from '../../ui/faults.tsx';
import { Check } from '../../ui/form.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
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

interface PickerProps {
  hint: string;
  /** What may be chosen besides what is chosen. Default: the newest Proxies. */
  among?: readonly string[] | undefined;
  /** Null for every Proxy. */
  chosen: readonly string[] | null;
  onChosen: (chosen: string[] | null) => void;
  /** The path of the member that it sets. */
  name: string;
}

export function ProxiesPicker({ hint, among, chosen, onChosen, name: member }: PickerProps) {
  const found = (useProxies() ?? []).filter(({ id }) => among?.includes(id) ?? true);
  const others = (among ?? chosen ?? []).filter((id) => found.every((proxy) => proxy.id !== id));
  const options = [...found, ...others.map((id) => ({ id, name: id }))];
  return (
    <Group name={member} legend="Proxies" className={styles.fieldset}>
      <p className={styles.hint}>{hint}</p>
      <Check
        label="Only certain Proxies"
        checked={chosen !== null}
        onChecked={(isBound) => onChosen(isBound ? [] : null)}
      />
      {chosen !== null && (
        <div className={styles.group}>
          {options.map(({ id, name }) => (
            <Check
              key={id}
              label={name}
              checked={chosen.includes(id)}
              onChecked={(isChosen) => onChosen(isChosen ? [...chosen, id] : chosen.filter((one) => one !== id))}
            />
          ))}
          {options.length === 0 && <Soft>There is no Proxy that you can see.</Soft>}
        </div>
      )}
    </Group>
  );
}
