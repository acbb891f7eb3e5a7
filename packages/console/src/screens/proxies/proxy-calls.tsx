import { useState } from 'react';
import { PairsEditor } from '../../code/pairs-editor.tsx';
import { Group } from '../../ui/faults.tsx';
import { Check, TextField } from '../../ui/form.tsx';
import styles from './proxies.module.css';
import { defaultTimeoutS, emptyDraft, type ProxyDraft, partsOf, placesInWords } from './proxy-draft.ts';

interface ProxyCallsProps {
  draft: ProxyDraft;
  onChange: (part: Partial<ProxyDraft>) => void;
}

const words = {
  ...{
    name: 'Header',
    namePlaceholder: 'Authorization',
    value: 'Header text',
    valuePlaceholder: 'Bearer {{ config: NAME }}',
  },
  add: 'Add a header',
};

const places = { body: 'Body', query: 'Query', path: 'Path' } as const;
const headerPlace = 'header:';

/** What most Proxies leave as it is. Open from the beginning where something is set. */
export function ProxyCalls({ draft, onChange }: ProxyCallsProps) {
  const [isOpen] = useState(
    Object.keys(draft.headers).length > 0 ||
      placesInWords(draft.places) !== placesInWords(emptyDraft.places) ||
      draft.timeout !== '',
  );
  return (
    <details className={styles.more} open={isOpen}>
      <summary>Headers, places of tokens, and time limit</summary>
      <div className={styles.moreFields}>
        <Group name="request_headers" legend="Headers of every call" className={styles.group}>
          <p>
            Sluice sets these headers after the request transform, so code never sees them. A header text may contain
            tokens. It may also contain values of the configuration. If you choose an Application, the tokens are
            revealed with the rights of this Application. Otherwise they are revealed with the rights of the caller.
          </p>
          <PairsEditor
            name="request_headers"
            value={draft.headers}
            onValue={(headers) => onChange({ headers })}
            words={words}
          />
        </Group>
        <PlacesFields value={draft.places} onValue={(changed) => onChange({ places: changed })} />
        <TextField
          label="Time limit of a response"
          inputMode="numeric"
          value={draft.timeout}
          onText={(timeout) => onChange({ timeout })}
          placeholder={`${defaultTimeoutS}`}
          pattern="[0-9]{1,3}"
          hint={`Seconds until the destination begins to respond, from 1 to 600. Default: ${defaultTimeoutS}.`}
          name="head_timeout_s"
        />
      </div>
    </details>
  );
}

interface PlacesFieldsProps {
  value: readonly string[];
  onValue: (value: readonly string[]) => void;
}

function PlacesFields({ value, onValue }: PlacesFieldsProps) {
  const [headers, setHeaders] = useState(() => namesIn(value).join(', '));
  const set = (names: readonly string[], place?: string, isOn?: boolean) => {
    const parts = Object.keys(places).filter((one) => (one === place ? isOn : value.includes(one)));
    onValue([...parts, ...names.map((name) => `${headerPlace}${name}`)]);
  };
  return (
    <Group name="token_places" legend="Where tokens of a request are replaced" className={styles.group}>
      <div className={styles.places}>
        {Object.entries(places).map(([place, label]) => (
          <Check
            key={place}
            label={label}
            checked={value.includes(place)}
            onChecked={(isOn) => set(namesIn(value), place, isOn)}
          />
        ))}
      </div>
      <TextField
        label="Headers"
        mono
        value={headers}
        onText={(text) => {
          setHeaders(text);
          set(partsOf(text, ','));
        }}
        placeholder="x-card-number, x-account"
        hint="Names, separated by commas."
      />
    </Group>
  );
}

const namesIn = (value: readonly string[]) =>
  value.flatMap((place) => (place.startsWith(headerPlace) ? [place.slice(headerPlace.length)] : []));
