import type { Created } from '../platform.ts';
import type { Canaries } from './canaries.ts';
import type { RecordingClient } from './recording-client.ts';
import type { ScriptedDestination } from './scripted-destination.ts';

export interface Stage {
  client: RecordingClient;
  canaries: Canaries;
  destination: ScriptedDestination;
  managementKey: string;
  /** Sees plaintext of all tokens. */
  revealing: Created;
  /** Sees masks; may do everything with tokens. */
  masking: Created;
}

type Opening = Pick<Stage, 'client' | 'canaries' | 'managementKey'>;

/** The part of an API key that is secret; what stands before it tells its kind. */
export const secretPartOf = (apiKey: string) => apiKey.slice(apiKey.lastIndexOf('_') + 1);

export async function createApplication(
  { client, canaries, managementKey: key }: Opening,
  name: string,
  grants: object,
): Promise<Created> {
  const { json } = await client.send('POST', '/applications', {
    key,
    body: { name, type: 'private', ...grants },
    headers: { 'SVC-IDEMPOTENCY-KEY': `application-${name}` },
    shows: [`key of ${name}`],
    is: 201,
  });
  canaries.add(`key of ${name}`, secretPartOf(json.key));
  return json;
}

/** Creates a Proxy, and once more under its idempotency key. Its key and configuration are shown by create and get. */
export async function createProxy(
  { client, canaries, managementKey: key }: Opening,
  name: string,
  body: object,
): Promise<Created> {
  const shows = ['configuration', `key of proxy ${name}`];
  const headers = { 'SVC-IDEMPOTENCY-KEY': `proxy-${name}` };
  const sent = { key, body: { name, ...body }, headers, shows, is: 201 };
  const { json } = await client.send('POST', '/proxies', sent);
  canaries.add(`key of proxy ${name}`, json.key);
  await client.send('POST', '/proxies', sent);
  await client.send('GET', `/proxies/${json.id}`, { key, shows, is: 200 });
  return json;
}
