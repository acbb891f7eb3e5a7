import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useState } from 'react';
import { Code } from '../../ui/copy.tsx';
import { Choice } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { clientsFor, ofAnyProxy as triesOut } from './calls.ts';
import styles from './proxies.module.css';
import { keyPlaces } from './route-fields.tsx';

/** A call to copy, for the client that the person uses. */
export default function CallIt({ proxy }: { proxy: ProxyResource }) {
  const [chosen, setChosen] = useState('curl');
  const clients = clientsFor(proxy);
  const names = Object.fromEntries(Object.entries(clients).map(([id, { name }]) => [id, name]));
  const client = clients[chosen] ?? clients.curl;
  if (!client) return null;
  const { place } = client;
  return (
    <Card
      title="Call this Proxy"
      intro={`${chosen in triesOut ? 'The example stores a test number, sends its token through the Proxy, and deletes the token. The call appears in Last invocations. SLUICE_API_KEY is the key of a private Application with token:create, token:use and token:delete.' : 'SLUICE_API_KEY is the key of a private Application with token:use.'} ${proxy.path_name ? '' : 'This Proxy has no route. With a route, more clients can call the Proxy: git, Octokit, and the client libraries of OpenAI, Anthropic and Stripe. Set the name of the route in the settings.'}`}
    >
      <div className={styles.client}>
        <Choice label="Client" value={chosen} options={names} onValue={setChosen} />
      </div>
      <Code text={client.linesFor(proxy)} what={`the lines for ${client.name}`} />
      {place && !proxy.accept_key_as?.includes(place) && (
        <p className={styles.missing}>
          {client.name} sends the key as <code>{keyPlaces[place].label}</code>. The route does not accept keys there.
          Allow this place in the settings of the Proxy.
        </p>
      )}
    </Card>
  );
}
