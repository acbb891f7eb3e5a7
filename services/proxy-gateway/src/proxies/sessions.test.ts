import { randomUUID } from 'node:crypto';
import { eventually, useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { repeated, upload } from '../testing/upload.ts';

const gateway = useStack((stack) => startTestGateway(stack, { BODY_LIMIT_BYTES: '65536' }));

async function setUp() {
  const { tenant, destination } = gateway.current;
  const application = await tenant.application();
  const [named, other] = [
    await tenant.proxy({ destination: destination.url }),
    await tenant.proxy({ destination: destination.url }),
  ];
  const open = await tenant.proxy({ destination: destination.url, requireAuth: false });
  const bound = await tenant.session(application.id, { proxies: [named.id] });
  const token = await tenant.token({ data: 'a secret value' });
  return { application, named, other, open, bound, token };
}

const headersOf = (proxyKey: string, key: string) => ({
  'SVC-API-KEY': key,
  'SVC-PROXY-KEY': proxyKey,
  'SVC-TRACE-ID': randomUUID(),
  'Content-Type': 'application/json',
});

async function invoke(proxyKey: string, key: string, body: string) {
  const { url, destination } = gateway.current;
  const before = destination.seen.length;
  const { status } = await fetch(`${url}/proxy`, { method: 'POST', headers: headersOf(proxyKey, key), body });
  return { status, sent: destination.seen.slice(before).map(({ body }) => body) };
}

describe('a session that is bound to a Proxy', () => {
  test('uses tokens there, and is 403 at every other', async () => {
    const { named, other, bound, token } = await setUp();
    const body = JSON.stringify({ value: `{{${token}}}` });
    expect(await invoke(named.key, bound.key, body)).toEqual({ status: 200, sent: ['{"value":"a secret value"}'] });
    expect(await invoke(other.key, bound.key, body)).toEqual({ status: 403, sent: [] });
    expect(await invoke(other.key, bound.key, '{}')).toEqual({ status: 403, sent: [] });
  });

  test('one that names reactors only is 403 at every Proxy', async () => {
    const { application, named, token } = await setUp();
    const { key } = await gateway.current.tenant.session(application.id, { reactors: [randomUUID()] });
    const body = JSON.stringify({ value: `{{${token}}}` });
    expect(await invoke(named.key, key, body)).toEqual({ status: 403, sent: [] });
  });

  test('reveals nothing at another that asks for no key', async () => {
    const { open, bound, token, application } = await setUp();
    const body = JSON.stringify({ value: `{{${token}}}` });
    expect(await invoke(open.key, bound.key, body)).toEqual({ status: 403, sent: [] });
    const free = await gateway.current.tenant.session(application.id);
    expect(await invoke(open.key, free.key, body)).toEqual({ status: 200, sent: ['{"value":"a secret value"}'] });
  });

  test('reveals nothing in a body that streams through another', async () => {
    const { other, open, bound, token } = await setUp();
    for (const proxy of [other, open]) {
      const sent = [...repeated(`{"value":"{{${token}}}"}\n`, 5000)];
      const { url, destination } = gateway.current;
      const before = destination.seen.length;
      const headers = { ...headersOf(proxy.key, bound.key), 'Content-Type': 'application/x-ndjson' };
      expect((await upload(url, headers, sent)).status).toBe(403);
      const seen = destination.seen.slice(before).map(({ body }) => body);
      expect(seen.join('')).not.toContain('a secret value');
    }
  });
});

test('the log names the Application that authorized the session, and the session', async () => {
  const { application, named, bound } = await setUp();
  const { url, logLines } = gateway.current;
  for (const [key, expected] of [
    [bound.key, { application_id: application.id, session_id: bound.id }],
    [application.key, { application_id: application.id }],
  ] as const) {
    const headers = headersOf(named.key, key);
    await fetch(`${url}/proxy`, { method: 'POST', headers, body: '{}' });
    const find = () => logLines.find((line) => line.includes(headers['SVC-TRACE-ID']));
    await eventually('the line in the log', () => find() !== undefined);
    const { application_id, session_id } = JSON.parse(find() ?? '');
    expect({ application_id, ...(session_id && { session_id }) }).toEqual(expected);
  }
});
