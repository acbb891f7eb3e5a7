import type { Canaries } from '../canaries.ts';
import type { RecordingClient } from '../recording-client.ts';
import type { ScriptedDestination } from '../scripted-destination.ts';

/** What all scenes play on. */
export interface Stage {
  client: RecordingClient;
  canaries: Canaries;
  destination: ScriptedDestination;
  managementKey: string;
  /** Sees plaintext of all tokens. */
  revealing: { id: string; key: string };
  /** Sees masks; may do everything with tokens. */
  masking: { id: string; key: string };
}

/** The part of an API key that is secret; what stands before it tells its kind. */
export const secretPartOf = (apiKey: string) => apiKey.slice(apiKey.lastIndexOf('_') + 1);

export async function createApplication(
  { client, canaries, managementKey: key }: Pick<Stage, 'client' | 'canaries' | 'managementKey'>,
  name: string,
  grants: object,
): Promise<{ id: string; key: string }> {
  const answer = await client.send('POST', '/applications', {
    key,
    body: { name, type: 'private', ...grants },
    headers: { 'SVC-IDEMPOTENCY-KEY': `application-${name}` },
    shows: [`key of ${name}`],
  });
  expect(answer.status).toBe(201);
  canaries.add(`key of ${name}`, secretPartOf(answer.json.key));
  return answer.json;
}
