import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useState } from 'react';
import { useNewestToken } from '../../code/use-newest.ts';
import { Code } from '../../ui/copy.tsx';
import { Choice } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { clientsFor } from './calls.ts';
import styles from './proxies.module.css';
import { keyPlaces } from './route-fields.tsx';

/** A call to copy, for the client that the person uses. */
export function CallIt({ proxy }: { proxy: ProxyResource }) {
  const token = useNewestToken();
  const [chosen, setChosen] = useState('curl');
  const clients = clientsFor(proxy);
  const names = Object.fromEntries(Object.entries(clients).map(([id, { name }]) => [id, name]));
  const client = clients[chosen] ?? clients.curl;
  if (!client || token === undefined) return null;
  const { place } = client;
  return (
    <Card
      title="Call this Proxy"
      intro={`SLUICE_API_KEY is the key of a private Application${token ? '' : ', and SLUICE_TOKEN is a token'}. ${proxy.path_name ? '' : 'Give the Proxy a route to call it with OpenAI, Anthropic, Stripe, Octokit or git.'}`}
    >
      <div className={styles.client}>
        <Choice label="Client" value={chosen} options={names} onValue={setChosen} />
      </div>
      <Code text={client.linesFor(proxy, token?.id)} what={`the lines for ${client.name}`} />
      {place && !proxy.accept_key_as?.includes(place) && (
        <p className={styles.missing}>
          {client.name} sends the key as <code>{keyPlaces[place].label}</code>. The route does not accept it there:
          choose it in the settings.
        </p>
      )}
    </Card>
  );
}
