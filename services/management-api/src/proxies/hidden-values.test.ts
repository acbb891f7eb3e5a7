import { type Role, roles } from '@sluice/access';
import { useStack } from '@sluice/testing';
import { shareTestConsole } from '../testing/test-console.ts';

const api = useStack(() => shareTestConsole());
const configuration = { SECRET: 'value-to-hide', OTHER: 'another-value' };
const seesAll: Record<Role, boolean> = { OWNER: true, ADMIN: true, DEVELOPER: true, AUDITOR: false };

test.each(roles)('%s sees key and values of a Proxy only where the role may change it', async (role) => {
  const { proxy, member } = api.current;
  const made = await proxy({ configuration });
  const { send } = await member(role);
  const hidden = { ...made, key: '[hidden]', configuration: { SECRET: '[hidden]', OTHER: '[hidden]' } };
  const expected = seesAll[role] ? made : hidden;
  const one = await send('GET', `/api/proxies/${made.id}`);
  const list = await send('GET', `/api/proxies?id=${made.id}`);
  expect([one.body, list.body.data]).toEqual([expected, [expected]]);
});

test('whoever signed in with a key that may create Proxies and not change them does not see what it made either', async () => {
  const { application, browser, db } = api.current;
  const { key } = await application({ type: 'management', permissions: ['proxy:create', 'proxy:read'] });
  const { send, signIn } = browser();
  await signIn({ key });
  const headers = { 'SVC-IDEMPOTENCY-KEY': 'a' };
  const body = { name: 'P', destination_url: 'https://example.com', configuration };
  for (const answer of [
    await send('POST', '/api/proxies', { body, headers }),
    await send('POST', '/api/proxies', { body, headers }),
  ]) {
    expect(answer).toMatchObject({ status: 201, body: { key: '[hidden]', configuration: { SECRET: '[hidden]' } } });
  }
  expect(await db.selectFrom('proxies').select('id').where('name', '=', 'P').execute()).not.toEqual([]);
});

test('by key nothing is hidden, as before', async () => {
  const { proxy, keyWith, send } = api.current;
  const made = await proxy({ configuration });
  expect((await send('GET', `/proxies/${made.id}`, { key: await keyWith('proxy:read') })).body).toEqual(made);
});

test('what was shown hidden is refused as a value, wherever it is sent', async () => {
  const { proxy, send } = api.current;
  const { id } = await proxy({ configuration });
  const hidden = { ...configuration, SECRET: '[hidden]' };
  const body = { name: 'P', destination_url: 'https://example.com', configuration: hidden };
  const merge = { 'Content-Type': 'application/merge-patch+json' };
  for (const answer of [
    await send('POST', '/proxies', { body }),
    await send('PUT', `/proxies/${id}`, { body }),
    await send('PATCH', `/proxies/${id}`, { body: { configuration: { SECRET: '[hidden]' } }, headers: merge }),
  ]) {
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['configuration.SECRET']]);
  }
  expect((await send('GET', `/proxies/${id}`)).body.configuration).toEqual(configuration);
});
