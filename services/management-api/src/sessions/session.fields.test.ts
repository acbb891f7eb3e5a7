import { randomUUID } from 'node:crypto';
import { callByHost, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const host = 'fields.localhost:8080';
const api = useStack((stack) => startTestManagement(stack, { FIELDS_HOST: host, TRUSTED_PROXIES: '127.0.0.0/8' }));

/** What a browser sends for a frame of the fields, and no script can. */
const frame = { Host: host, Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' };
const shop = 'https://shop.example';

async function createApplications() {
  const { application } = api.current;
  const maker = await application({ type: 'public', permissions: ['token:create'], allowed_origins: [shop] });
  return { maker, authorizer: await application({ permissions: ['token:read'] }) };
}

type Maker = Awaited<ReturnType<typeof createApplications>>['maker'];

function createSession({ id, key }: Pick<Maker, 'id' | 'key'>, headers: Record<string, string | undefined> = frame) {
  const all = { 'SVC-FIELDS-APPLICATION': id, ...headers };
  const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined);
  return callByHost(api.current.url, 'POST', '/sessions', { key, headers: Object.fromEntries(sent) });
}

const authorize = (key: string, body: object) =>
  api.current.send('POST', '/sessions/authorize', { key, body: { permissions: ['token:read'], ...body } });

describe('a session that a frame made', () => {
  test('is authorized with fields: true, and says so', async () => {
    const { maker, authorizer } = await createApplications();
    const { status, headers, body } = await createSession(maker);
    expect({ status, cors: headers.get('access-control-allow-origin') }).toEqual({ status: 201, cors: null });
    expect((await authorize(authorizer.key, { nonce: body.nonce, fields: true })).status).toBe(200);
    const { body: session } = await api.current.send('GET', `/sessions/${body.id}`);
    expect(session).toMatchObject({ state: 'authorized', fields: true, application_id: maker.id });
  });

  test('may be authorized without it, and then does not say so', async () => {
    const { maker, authorizer } = await createApplications();
    for (const fields of [undefined, false, null]) {
      const { body } = await createSession(maker);
      expect((await authorize(authorizer.key, { nonce: body.nonce, fields })).status).toBe(200);
      expect((await api.current.send('GET', `/sessions/${body.id}`)).body).not.toHaveProperty('fields');
    }
  });

  test('counts as made from the address of the person', async () => {
    const { maker, authorizer } = await createApplications();
    const from = (address: string) => createSession(maker, { ...frame, 'X-Forwarded-For': address });
    const { body: mine } = await from('203.0.113.7');
    const { body: others } = await from('203.0.113.8');
    const wanted = { fields: true, address: '203.0.113.7' };
    expect((await authorize(authorizer.key, { nonce: others.nonce, ...wanted })).status).toBe(403);
    expect((await authorize(authorizer.key, { nonce: mine.nonce, ...wanted })).status).toBe(200);
  });
});

test.each<[string, Record<string, string | undefined>]>([
  ['a script of the page itself, at the base host', { Host: undefined, Origin: shop, 'Sec-Fetch-Site': 'cross-site' }],
  ['a page of the shop at the host of the fields', { ...frame, Origin: shop, 'Sec-Fetch-Site': 'cross-site' }],
  ['a page whose browser sends no Sec-Fetch-Site', { ...frame, 'Sec-Fetch-Site': undefined }],
  ['a sibling host', { ...frame, 'Sec-Fetch-Site': 'same-site' }],
  ['a program', { ...frame, Origin: undefined, 'Sec-Fetch-Site': undefined }],
])('a session that was made by %s is 403 with fields: true, and its nonce stays good without', async (_, headers) => {
  const { maker, authorizer } = await createApplications();
  const { status, body } = await createSession(maker, headers);
  expect(status).toBe(201);
  const refused = await authorize(authorizer.key, { nonce: body.nonce, fields: true });
  expect({ status: refused.status, detail: refused.body.detail }).toEqual({
    status: 403,
    detail: 'The session was not created by a frame of the hosted fields',
  });
  expect((await authorize(authorizer.key, { nonce: body.nonce })).status).toBe(200);
});

describe('at the host of the fields', () => {
  test('the key of another Application than that of the frame is 403', async () => {
    const { maker } = await createApplications();
    const { maker: advertiser } = await createApplications();
    expect((await createSession({ id: maker.id, key: advertiser.key })).status).toBe(403);
    expect((await createSession(advertiser)).status).toBe(201);
    for (const named of [undefined, randomUUID(), '', `${maker.id}, ${maker.id}`]) {
      expect((await createSession(maker, { ...frame, 'SVC-FIELDS-APPLICATION': named })).status).toBe(403);
    }
  });

  test('an id in capitals is the same one', async () => {
    const { maker } = await createApplications();
    expect((await createSession({ ...maker, id: maker.id.toUpperCase() })).status).toBe(201);
  });

  test('a refused key is 401, also where it names no Application', async () => {
    const { maker } = await createApplications();
    expect((await createSession({ id: maker.id, key: 'nonsense' })).status).toBe(401);
  });

  test('no preflight is answered', async () => {
    const headers = { Host: host, Origin: shop, 'Access-Control-Request-Method': 'POST' };
    const answer = await callByHost(api.current.url, 'OPTIONS', '/sessions', { headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  });
});
