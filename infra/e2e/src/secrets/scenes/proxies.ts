import { createApplication, type Stage, secretPartOf } from './stage.ts';

export interface CreatedProxy {
  id: string;
  key: string;
}

/** Creates a Proxy. Its key and configuration are shown by create and get. */
export async function createProxy(stage: Stage, name: string, body: object): Promise<CreatedProxy> {
  const { client, canaries, managementKey: key } = stage;
  const sent = { key, body: { name, ...body }, headers: { 'SVC-IDEMPOTENCY-KEY': `proxy-${name}` } };
  const shows = ['configuration', `key of proxy ${name}`];
  const answer = await client.send('POST', '/proxies', { ...sent, shows });
  expect([name, answer.status]).toEqual([name, 201]);
  canaries.add(`key of proxy ${name}`, answer.json.key);
  expect((await client.send('POST', '/proxies', { ...sent, shows })).status).toBe(201);
  expect((await client.send('GET', `/proxies/${answer.json.id}`, { key, shows })).status).toBe(200);
  return answer.json;
}

/** Proxies and Applications are changed, keys are replaced, and what is wrong is refused. */
export async function manage(stage: Stage): Promise<void> {
  const { client, canaries, managementKey: key, destination } = stage;
  const secret = canaries.text('refused by management');
  const configuration = { token: canaries.text('configuration'), patched: canaries.text('configuration, patched') };
  const proxy = await createProxy(stage, 'changed', {
    destination_url: destination.url,
    configuration: { a: configuration.token },
  });
  const shows = ['configuration', 'configuration, patched', 'key of proxy changed'];
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const patch = await client.send('PATCH', `/proxies/${proxy.id}`, { key, headers, body: { configuration } });
  expect(patch.status).toBe(204);
  const whole = { name: 'changed', destination_url: destination.url, configuration };
  expect((await client.send('PUT', `/proxies/${proxy.id}`, { key, body: whole, shows })).status).toBe(200);
  expect((await client.send('GET', `/proxies?id=${proxy.id}`, { key, shows })).status).toBe(200);

  const application = await createApplication(stage, 'replaced', { permissions: ['token:read'] });
  const path = `/applications/${application.id}`;
  const regenerated = await client.send('POST', `${path}/regenerate`, { key, shows: ['key of replaced, new'] });
  canaries.add('key of replaced, new', secretPartOf(regenerated.json.key));
  expect((await client.send('GET', '/tokens', { key: application.key })).status).toBe(401);
  for (const one of [
    path,
    '/applications',
    '/applications/key',
    '/tenants/self',
    '/tenants/self/reports/usage',
    '/permissions',
  ]) {
    expect([one, (await client.send('GET', one, { key })).status]).toEqual([one, 200]);
  }

  const code = `module.exports = async () => { const key = "${canaries.text('code')}; }`;
  const bodies: unknown[] = [
    { ...whole, configuration: { a: [secret] } },
    { ...whole, configuration: secret },
    { ...whole, configuration: { [`${'x'.repeat(201)}`]: secret } },
    { ...whole, configuration: { a: secret.repeat(3000) } },
    { ...whole, destination_url: `ftp://user:${encodeURIComponent(secret)}@example.com` },
    { ...whole, destination_url: `http://169.254.169.254/?key=${encodeURIComponent(secret)}` },
    { ...whole, application: { id: secret } },
    { ...whole, require_auth: secret },
    { ...whole, configuration: { a: secret }, request_transform: { code } },
    `{"name": "${secret}" "configuration": {"a": ${canaries.card}}}`,
    `${secret}`,
  ];
  for (const body of bodies) {
    const created = await client.send('POST', '/proxies', { key, body });
    const updated = await client.send('PUT', `/proxies/${proxy.id}`, { key, body });
    expect([created.status, updated.status].every((status) => status >= 400 && status < 500)).toBe(true);
  }
  expect(
    (await client.send('POST', '/applications', { key, body: { name: 'A', type: secret, permissions: [secret] } }))
      .status,
  ).toBe(400);
  expect(
    (await client.send('PUT', '/tenants/self', { key, body: { name: 'A', settings: { fingerprint_tokens: secret } } }))
      .status,
  ).toBe(400);
  await wrongKeys(stage);
}

async function wrongKeys({ client, canaries }: Stage): Promise<void> {
  const secret = canaries.text('wrong key');
  const inHeader = Buffer.from(secret).toString('latin1');
  const formed = `svc_local_prv_${'0'.repeat(30)}${canaries.card}000`;
  for (const path of ['/tokens', '/proxies', '/permissions', '/proxy']) {
    for (const key of [inHeader, formed, `Bearer ${inHeader}`]) {
      const { status } = await client.send('GET', path, { key, headers: { Authorization: `Bearer ${inHeader}` } });
      expect([path, status]).toEqual([path, path === '/proxy' ? 400 : 401]);
    }
  }
  const headers = { 'SVC-PROXY-KEY': secret.replaceAll(/[^0-9a-z]/g, '') };
  expect((await client.send('GET', '/proxy', { headers })).status).toBe(404);
  expect((await client.send('GET', `/proxy?svc-proxy-key=${headers['SVC-PROXY-KEY']}`)).status).toBe(404);
}
