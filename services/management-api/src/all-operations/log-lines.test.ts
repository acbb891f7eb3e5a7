import { eventually, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const api = useStack((stack) => startTestManagement(stack));
const secrets = { API_SECRET: 'configuration-value-4711', OTHER: 'patched-value-0815' };

test('no key, no configuration value and no body reaches a log line or an error, whatever happens', async () => {
  const { send, application, proxy, tenant, logLines, db } = api.current;
  const created = await application({ expires_at: '2999-01-01' });
  const proxied = await proxy({ configuration: secrets, application: { id: created.id } });
  const regenerated = (await send('POST', `/applications/${created.id}/regenerate`)).body;
  const errors = await Promise.all([
    send('GET', '/proxies', { key: created.key }),
    send('GET', '/proxies', { key: `${regenerated.key}x` }),
    send('GET', `/nothing?svc-proxy-key=${proxied.key}&a=${secrets.OTHER}`),
    send('GET', `/proxies?id=${secrets.OTHER}`),
    send('POST', '/proxies', { body: `{"configuration":{"a":"${secrets.OTHER}"},}` }),
    send('POST', '/proxies', { body: { configuration: { a: { b: secrets.OTHER } } } }),
    send('PUT', `/proxies/${proxied.id}`, { body: { name: secrets.OTHER, configuration: secrets } }),
    send('PATCH', `/proxies/${proxied.id}`, { body: secrets.OTHER }),
  ]);
  for (const { status } of errors) expect(status).toBeGreaterThanOrEqual(400);
  await send('PATCH', `/proxies/${proxied.id}`, {
    body: { configuration: { OTHER: secrets.OTHER } },
    headers: { 'Content-Type': 'application/merge-patch+json' },
  });
  // The statement fails, and its error quotes the value
  const { sql } = await import('kysely');
  await sql`alter table proxies add constraint broken check (name <> 'break') not valid`.execute(db);
  await sql`create unique index one_name on applications (name) where name like 'unique%'`.execute(db);
  const breaking = { name: 'break', destination_url: 'https://example.com', configuration: secrets };
  expect((await send('POST', '/proxies', { body: breaking })).status).toBe(500);
  await application({ name: `unique ${secrets.OTHER}` });
  const clash = { name: `unique ${secrets.OTHER}`, type: 'private', permissions: ['token:read'] };
  const failed = await send('POST', '/applications', { body: clash });
  expect(failed).toMatchObject({ status: 500, body: { detail: 'The request could not be processed' } });
  errors.push(failed);

  const lines = logLines.map((line) => JSON.parse(line));
  expect(lines.filter(({ msg }) => msg === 'request').length).toBeGreaterThan(10);
  expect(lines.filter(({ msg }) => msg === 'request failed')).toHaveLength(2);
  const hidden = [tenant.management_key, created.key, regenerated.key, proxied.key, ...Object.values(secrets)];
  for (const secret of hidden) {
    expect(logLines.filter((line) => line.includes(secret))).toEqual([]);
    expect(errors.filter(({ body }) => JSON.stringify(body).includes(secret))).toEqual([]);
  }
});

test('a request is one line: an allow-list', async () => {
  const { send, logLines } = api.current;
  const start = logLines.length;
  await send('GET', '/permissions?application_type=public', { headers: { 'SVC-TRACE-ID': 'one-line' } });
  // The line is written after the answer is sent, shortly after it arrives
  await eventually('the line', () => logLines.length > start);
  const [line, ...others] = logLines.slice(start).map((text) => JSON.parse(text));
  expect(others).toEqual([]);
  expect(line).toEqual({
    level: 'info',
    time: expect.any(String),
    service: 'test',
    msg: 'request',
    method: 'GET',
    path: '/permissions',
    status: 200,
    trace_id: 'one-line',
    duration_ms: expect.any(Number),
  });
});
