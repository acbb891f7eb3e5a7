import { useState } from 'react';
import { baseUrl, headerPrefix } from '../../api/client.ts';
import { Group } from '../../ui/faults.tsx';
import { Check, TextArea, TextField } from '../../ui/form.tsx';
import styles from './proxies.module.css';
import type { KeyPlace, ProxyDraft } from './proxy-draft.ts';

interface RouteFieldsProps {
  draft: ProxyDraft;
  onChange: (part: Partial<ProxyDraft>) => void;
}

export const keyPlaces: Readonly<Record<KeyPlace, { label: string; hint: string }>> = {
  bearer: {
    label: 'Authorization: Bearer',
    hint: 'Used by OpenAI, Stripe and Octokit. "Authorization: token" is accepted, too.',
  },
  'x-api-key': { label: 'X-Api-Key', hint: 'Used by Anthropic.' },
  basic: { label: 'Authorization: Basic', hint: 'As user name or password. Used by git.' },
};

/** How clients find the Proxy without its key, and what they may ask it for. Open from the beginning where something is set. */
export function RouteFields({ draft, onChange }: RouteFieldsProps) {
  const { pathName, keyPlaces: chosen, methods, paths } = draft;
  const [isOpen] = useState(pathName !== '' || chosen.length > 0 || methods !== '' || paths !== '');
  return (
    <details className={styles.more} open={isOpen}>
      <summary>Route, methods and paths</summary>
      <div className={styles.moreFields}>
        <TextField
          label="Name of the route"
          mono
          value={pathName}
          onText={(text) => onChange({ pathName: text })}
          placeholder="payments"
          maxLength={63}
          hint={`Clients that take a base URL and an API key call ${baseUrl}/routes/${pathName || '<name>'}. The name has lower-case letters, digits and dashes.`}
          name="path_name"
        />
        <Group name="accept_key_as" legend="Where the route accepts an API key" className={styles.group}>
          <p>The header {headerPrefix}-API-KEY always works. Choose what your clients send.</p>
          <div className={styles.places}>
            {Object.entries(keyPlaces).map(([place, { label, hint }]) => (
              <Check
                key={place}
                label={label}
                hint={hint}
                checked={chosen.includes(place as KeyPlace)}
                onChecked={(isOn) => onChange({ keyPlaces: withPlace(chosen, place as KeyPlace, isOn) })}
              />
            ))}
          </div>
        </Group>
        <TextField
          label="Allowed methods"
          mono
          value={methods}
          onText={(text) => onChange({ methods: text })}
          placeholder="GET, POST"
          hint="Separated by commas. Other methods are refused. Empty: all."
          name="allowed_methods"
        />
        <TextArea
          label="Allowed paths"
          mono
          rows={3}
          value={paths}
          onText={(text) => onChange({ paths: text })}
          placeholder={'/v1/charges\n/v1/refunds/*'}
          hint={
            'One path per line, below the destination URL. "/v1/a" allows this path and all paths below it. "/v1/a/*" allows only the paths below it. "/v1/a*" allows all paths that begin with these characters. Other paths are refused. Empty: all.'
          }
          name="allowed_paths"
        />
      </div>
    </details>
  );
}

/** In the order of the table, so that a choice that is taken back is no change. */
function withPlace(chosen: readonly KeyPlace[], place: KeyPlace, isOn: boolean): KeyPlace[] {
  return (Object.keys(keyPlaces) as KeyPlace[]).filter((one) => (one === place ? isOn : chosen.includes(one)));
}
