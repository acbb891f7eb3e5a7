import { isRefusal } from '../recording-client.ts';
import { createApplication, createProxy, type Stage, secretPartOf } from '../stage.ts';

/** Proxies and Applications are changed, keys are replaced, and what is wrong is refused. */
export async function manage(stage: Stage): Promise<void> {
  const { client, canaries, managementKey: key, destination } = stage;
  const secret = canaries.text('refused by management');
  const configuration = { token: canaries.text('configuration'), patched: canaries.text('configuration, patched') };
  const { id } = await createProxy(stage, 'changed', {
    destination_url: destination.url,
    configuration: { a: configuration.token },
  });
  const path = `/proxies/${id}`;
  const shows = ['configuration', 'configuration, patched', 'request headers', 'key of proxy changed'];
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const request_headers = { 'X-Canary': canaries.headerText('request headers') };
  const whole = { name: 'changed', destination_url: destination.url, configuration };
  await client.send('PATCH', path, { key, headers, body: { configuration, request_headers }, is: 204 });
  await client.send('PUT', path, { key, body: whole, shows, is: 200 });
  await client.send('GET', `/proxies?id=${id}`, { key, shows, is: 200 });
  await client.send('GET', `${path}/versions`, { key, is: 200 });
  await client.send('GET', `${path}/versions/1`, { key, shows, is: 200 });
  await client.send('POST', `${path}/versions/2/restore`, { key, shows, is: 200 });

  const application = await createApplication(stage, 'replaced', { permissions: ['token:read'] });
  const ofApplication = `/applications/${application.id}`;
  const regenerated = await client.send('POST', `${ofApplication}/regenerate`, {
    key,
    shows: ['key of replaced, new'],
  });
  canaries.add('key of replaced, new', secretPartOf(regenerated.json.key));
  await client.send('GET', '/tokens', { key: application.key, is: 401 });
  const readable = [
    '/applications',
    '/applications/key',
    '/tenants/self',
    '/tenants/self/reports/usage',
    '/permissions',
  ];
  for (const one of [ofApplication, ...readable]) await client.send('GET', one, { key, is: 200 });

  const code = `module.exports = async () => { const key = "${canaries.text('code')}; }`;
  const bodies: unknown[] = [
    { ...whole, configuration: { a: [secret] } },
    { ...whole, configuration: secret },
    { ...whole, configuration: { [`${'x'.repeat(201)}`]: secret } },
    { ...whole, configuration: { a: secret.repeat(3000) } },
    { ...whole, destination_url: `ftp://user:${encodeURIComponent(secret)}@example.com` },
    { ...whole, destination_url: `http://169.254.169.254/?key=${encodeURIComponent(secret)}` },
    { ...whole, request_headers: { 'X-A': [secret] } },
    { ...whole, request_headers: secret },
    { ...whole, request_headers: { [secret]: 'x' } },
    { ...whole, request_headers: { 'X-A': `{{ ${secret} | nothing }}` } },
    { ...whole, request_headers: { 'X-A': `{{ config: ${secret} }}` } },
    { ...whole, token_places: [secret] },
    { ...whole, application: { id: secret } },
    { ...whole, require_auth: secret },
    { ...whole, configuration: { a: secret }, request_transform: { code } },
    `{"name": "${secret}" "configuration": {"a": ${canaries.card}}}`,
    `${secret}`,
  ];
  for (const body of bodies) {
    await client.send('POST', '/proxies', { key, body, is: isRefusal });
    await client.send('PUT', path, { key, body, is: isRefusal });
  }
  const wrongApplication = { name: 'A', type: secret, permissions: [secret] };
  await client.send('POST', '/applications', { key, body: wrongApplication, is: 400 });
  const wrongTenant = { name: 'A', settings: { fingerprint_tokens: secret } };
  await client.send('PUT', '/tenants/self', { key, body: wrongTenant, is: 400 });
  await wrongKeys(stage);
}

async function wrongKeys({ client, canaries }: Stage): Promise<void> {
  const secret = canaries.text('wrong key');
  const inHeader = Buffer.from(secret).toString('latin1');
  const formed = `svc_local_prv_${'0'.repeat(30)}${canaries.card}000`;
  for (const path of ['/tokens', '/proxies', '/permissions', '/proxy']) {
    for (const key of [inHeader, formed, `Bearer ${inHeader}`]) {
      const headers = { Authorization: `Bearer ${inHeader}` };
      await client.send('GET', path, { key, headers, is: path === '/proxy' ? 400 : 401 });
    }
  }
  const proxyKey = secret.replaceAll(/[^0-9a-z]/g, '');
  await client.send('GET', '/proxy', { headers: { 'SVC-PROXY-KEY': proxyKey }, is: 404 });
  await client.send('GET', `/proxy?svc-proxy-key=${proxyKey}`, { is: 404 });
}

/** What no HTTP client would send: the parsers' own errors must not tell either. */
export async function sendMalformed({ client, canaries }: Stage, urls: readonly string[]): Promise<void> {
  const secret = canaries.text('malformed');
  const { card } = canaries;
  const requests = [
    `POST /tokens HTTP/1.1\r\nHost: a\r\nSVC-API-KEY ${secret}\r\n\r\n`,
    `POST /tokens?a=${secret} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `${card} /proxy HTTP/1.1\r\nHost: a\r\n\r\n`,
    `POST /proxy HTTP/1.1\r\nHost: a\r\nSVC-PROXY-KEY: ${secret}\u0000\r\n\r\n`,
    `POST /proxy HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
    `POST /tokens HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\n${secret}`,
    `POST /tokens HTTP/1.1\r\nHost: a\r\nX: ${secret.repeat(2000)}\r\n\r\n`,
    `POST /tokens HTTP/1.1\r\nHost: a\r\n${`X-${card}: a\r\n`.repeat(150)}\r\n`,
    `POST /tokens HTTP/9.${card}\r\nHost: a\r\n\r\n`,
  ];
  for (const url of urls) await Promise.all(requests.map((request) => client.sendRaw(url, request)));
}
