import { createApplication, type Stage, secretPartOf } from '../stage.ts';
import type { CreatedTokens } from './tokens.ts';

const mostKeys = 5;

/** A key is added under an idempotency key, and replayed; it authorizes a session, which is used, refused and ended. */
export async function useSession(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, managementKey, revealing } = stage;
  const page = await createApplication(stage, 'page', { type: 'public', permissions: ['token:create'] });
  const keys = `/applications/${revealing.id}/keys`;
  const manage = (method: string, path: string, is: number, shows: string[] = []) =>
    client.send(method, path, { key: managementKey, shows, is });

  const headers = { 'SVC-IDEMPOTENCY-KEY': 'added-key' };
  const asked = { key: managementKey, body: {}, headers, shows: ['added key'], is: 201 };
  const { json: added } = await client.send('POST', keys, asked);
  canaries.add('added key', secretPartOf(added.key));
  expect((await client.send('POST', keys, asked)).json.key).toBe(added.key);
  for (let i = 2; i < mostKeys; i++) {
    const { json } = await manage('POST', keys, 201, [`key ${i}`]);
    canaries.add(`key ${i}`, secretPartOf(json.key));
  }
  await manage('POST', keys, 422);
  await manage('GET', keys, 200);

  const made = await client.send('POST', '/sessions', { key: page.key, shows: ['session key', 'nonce'], is: 201 });
  const { id, session_key: sessionKey, nonce } = made.json;
  canaries.add('session key', secretPartOf(sessionKey));
  canaries.add('nonce', nonce);
  const read = (is: number, shows: string[] = []) =>
    client.send('GET', `/tokens/${tokens.text}`, { key: sessionKey, shows, is });
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }];
  const authorize = (is: number, body: object) =>
    client.send('POST', '/sessions/authorize', { key: added.key, body: { nonce, rules, ...body }, is });

  await read(401);
  await authorize(400, { rules: [] });
  await authorize(404, { nonce: `${nonce}x` });
  await authorize(200, {});
  await authorize(409, {});
  await read(200, ['text']);
  for (const path of ['/sessions', `/sessions/${id}`]) await manage('GET', path, 200);
  await manage('GET', `/sessions/${sessionKey}`, 400);
  await manage('DELETE', `${keys}/${added.id}`, 204);
  await read(401);
}
