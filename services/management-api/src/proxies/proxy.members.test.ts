import { randomUUID } from 'node:crypto';
import { listProxyMembers, type ProxyMemberName, proxyMembers } from '@sluice/database';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

/** A body that sets every member, to another value than its default. */
async function wholeBody(): Promise<Record<ProxyMemberName, unknown>> {
  const { id } = await api.current.application();
  return {
    name: 'Whole',
    destination_url: 'https://example.com/whole',
    request_transform: { code: 'module.exports = async () => ({});' },
    response_transform: { code: 'module.exports = async () => ({ body: 1 });' },
    application: { id },
    configuration: { A: 'b' },
    require_auth: false,
    token_places: ['query', 'header:X-Card'],
    request_headers: { 'X-Key': 'k {{ 0b8f5a0e-6f63-4a1f-9d3c-1a2b3c4d5e6f | last4 }}' },
    head_timeout_s: 60,
    path_name: `whole-${randomUUID()}`,
    accept_key_as: ['bearer', 'basic'],
    allowed_methods: ['GET', 'post'],
    allowed_paths: ['/v1/a', '/v1/b/*'],
    response_guard: 'block',
  };
}

function answeredNameOf(name: ProxyMemberName): string {
  const { kept, column } = proxyMembers[name];
  return kept === 'reference' ? column : name;
}

describe.each(listProxyMembers())('the member %s', (name, { absent, schema, kept }) => {
  const answered = answeredNameOf(name);

  test('is answered as it was sent', async () => {
    const body = await wholeBody();
    const proxy = await api.current.proxy(body);
    const sent = kept === 'reference' ? (body[name] as { id: string }).id : body[name];
    expect(proxy[answered]).toEqual(sent);
    expect((await api.current.send('GET', `/proxies/${proxy.id}`)).body[answered]).toEqual(sent);
  });

  test(`is ${absent} by a PUT without it`, async () => {
    const whole: Record<string, unknown> = await wholeBody();
    const { [name]: _, ...body } = whole;
    const { id } = await api.current.proxy(whole);
    const { status, body: answer } = await api.current.send('PUT', `/proxies/${id}`, { body });
    if (absent === 'refused') {
      expect({ status, errors: answer.errors }).toEqual({ status: 400, errors: { [name]: ['is required'] } });
    } else {
      const value = absent === 'kept' ? whole[name] : schema.default;
      expect({ status, value: answer[answered] }).toEqual({ status: 200, value });
    }
  });

  test('stays by a PATCH without it', async () => {
    const proxy = await api.current.proxy(await wholeBody());
    const other = name === 'name' ? { require_auth: true } : { name: 'Other' };
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    expect((await api.current.send('PATCH', `/proxies/${proxy.id}`, { body: other, headers })).status).toBe(204);
    expect((await api.current.send('GET', `/proxies/${proxy.id}`)).body[answered]).toEqual(proxy[answered]);
  });
});

test.each(listProxyMembers().filter(([, { absent }]) => absent === 'kept'))(
  'the member %s is unset by a PUT with null',
  async (name) => {
    const whole = await wholeBody();
    const { id } = await api.current.proxy(whole);
    const answer = await api.current.send('PUT', `/proxies/${id}`, { body: { ...whole, [name]: null } });
    expect([answer.status, Object.hasOwn(answer.body, name)]).toEqual([200, false]);
  },
);
