import { createApplication, type Stage, secretPartOf } from './stage.ts';
import type { CreatedTokens } from './tokens.ts';

const mostKeys = 5;

/** A key is added under an idempotency key, and replayed; it authorizes a session, which is used, refused and ended. */
export async function useSession(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, managementKey, revealing } = stage;
  const page = await createApplication(stage, 'page', { type: 'public', permissions: ['token:create'] });
  const path = `/applications/${revealing.id}/keys`;
  const asked = {
    key: managementKey,
    body: {},
    headers: { 'SVC-IDEMPOTENCY-KEY': 'added-key' },
    shows: ['added key'],
  };
  const added = await client.send('POST', path, asked);
  canaries.add('added key', secretPartOf(added.json.key));
  const again = await client.send('POST', path, asked);
  expect([added.status, again.status, again.json.key]).toEqual([201, 201, added.json.key]);
  for (let i = 2; i < mostKeys; i++) {
    const other = await client.send('POST', path, { key: managementKey, shows: [`key ${i}`] });
    canaries.add(`key ${i}`, secretPartOf(other.json.key));
  }
  expect((await client.send('POST', path, { key: managementKey })).status).toBe(422);
  await client.send('GET', path, { key: managementKey });

  const made = await client.send('POST', '/sessions', { key: page.key, shows: ['session key', 'nonce'] });
  const { id, session_key: sessionKey, nonce } = made.json;
  canaries.add('session key', secretPartOf(sessionKey));
  canaries.add('nonce', nonce);
  expect((await client.send('GET', `/tokens/${tokens.text}`, { key: sessionKey })).status).toBe(401);
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }];
  const authorize = (body: object) => client.send('POST', '/sessions/authorize', { key: added.json.key, body });
  expect((await authorize({ nonce, rules: [] })).status).toBe(400);
  expect((await authorize({ nonce: `${nonce}x`, rules })).status).toBe(404);
  expect((await authorize({ nonce, rules })).status).toBe(200);
  expect((await authorize({ nonce, rules })).status).toBe(409);
  const read = () => client.send('GET', `/tokens/${tokens.text}`, { key: sessionKey, shows: ['text'] });
  expect((await read()).status).toBe(200);
  for (const at of ['/sessions', `/sessions/${id}`]) await client.send('GET', at, { key: managementKey });
  expect((await client.send('GET', `/sessions/${sessionKey}`, { key: managementKey })).status).toBe(400);
  expect((await client.send('DELETE', `${path}/${added.json.id}`, { key: managementKey })).status).toBe(204);
  expect((await read()).status).toBe(401);
}
