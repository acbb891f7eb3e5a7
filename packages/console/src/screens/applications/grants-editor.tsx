import type { AccessRule, Permission, PermissionName } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { Button } from '../../ui/button.tsx';
import { Group } from '../../ui/faults.tsx';
import { Check } from '../../ui/form.tsx';
import { Loaded } from '../../ui/states.tsx';
import type { ApplicationType } from './application-types.ts';
import styles from './applications.module.css';
import { ProxiesPicker } from './callable-proxies.tsx';
import { RuleEditor } from './rule-editor.tsx';

export interface Grants {
  permissions: PermissionName[];
  rules: AccessRule[];
  /** Null for every Proxy. */
  proxies: string[] | null;
}

interface GrantsEditorProps {
  type: ApplicationType;
  grants: Grants;
  onGrants: (grants: Grants) => void;
}

/** What an Application of this type can be granted, and what it is. */
export function GrantsEditor({ type, grants, onGrants }: GrantsEditorProps) {
  const query = useQuery({
    queryKey: ['permissions', type],
    queryFn: ({ signal }) => sluice.permissions.list({ application_type: type }, { signal }).toArray(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Loaded query={query}>
      {(permissions) => (
        <>
          <PermissionPicker
            permissions={permissions}
            chosen={grants.permissions}
            onChosen={(chosen) => onGrants({ ...grants, permissions: chosen })}
          />
          {type !== 'management' && (
            <Rules permissions={permissions} rules={grants.rules} onRules={(rules) => onGrants({ ...grants, rules })} />
          )}
          {type === 'private' && (
            <ProxiesPicker
              hint="Without a list, an Application with token:use may call every Proxy and Reactor of the Tenant. With a list, it may call only these Proxies, and no Reactor. The same limits apply to its sessions."
              chosen={grants.proxies}
              onChosen={(proxies) => onGrants({ ...grants, proxies })}
              name="proxies"
            />
          )}
        </>
      )}
    </Loaded>
  );
}

interface PickerProps {
  permissions: readonly Permission[];
  chosen: readonly PermissionName[];
  onChosen: (chosen: PermissionName[]) => void;
}

/** Permissions grouped by resource: `proxy:read` is listed under `proxy`. */
function PermissionPicker({ permissions, chosen, onChosen }: PickerProps) {
  const giving = useGiving();
  const groups = Map.groupBy(permissions, ({ type }) => type.slice(0, type.lastIndexOf(':')));
  return (
    <Group name="permissions" legend="Permissions" className={styles.fieldset}>
      <p className={styles.hint}>
        These permissions apply to the whole Tenant. They let callers see tokens masked, never in plaintext.
      </p>
      <div className={styles.groups}>
        {[...groups].map(([group, members]) => (
          <fieldset key={group} className={styles.group}>
            <legend>{group}</legend>
            {members.map(({ type, description }) => (
              <Check
                key={type}
                label={<code>{type}</code>}
                hint={giving.ofGrants({ permissions: [type], rules: [] }) ?? description}
                disabled={giving.ofGrants({ permissions: [type], rules: [] }) !== undefined}
                checked={chosen.includes(type)}
                onChecked={(isChosen) => onChosen(isChosen ? [...chosen, type] : chosen.filter((one) => one !== type))}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </Group>
  );
}

interface RulesProps {
  permissions: readonly Permission[];
  rules: readonly AccessRule[];
  onRules: (rules: AccessRule[]) => void;
}

function Rules({ permissions, rules, onRules }: RulesProps) {
  const add = () => {
    const priority = Math.max(0, ...rules.map((rule) => rule.priority)) + 1;
    onRules([...rules, { priority, container: '/', transform: 'mask', permissions: [] }]);
  };
  return (
    <Group name="rules" legend="Rules" className={styles.fieldset}>
      <p className={styles.hint}>
        A rule grants permissions on a container and on all containers below it. The rule also decides how callers see
        the values. If several rules grant the same permission on a token, the one with the lowest priority number
        applies. A rule also takes precedence over the same permission selected above, even if callers then see less of
        the value.
      </p>
      {rules.map((rule, at) => (
        <RuleEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule has no name but its position
          key={at}
          position={at}
          rule={rule}
          permissions={permissions}
          onRule={(changed) => onRules(rules.with(at, changed))}
          onRemove={() => onRules(rules.toSpliced(at, 1))}
        />
      ))}
      <div>
        <Button small icon="plus" onClick={add}>
          Add a rule
        </Button>
      </div>
    </Group>
  );
}
