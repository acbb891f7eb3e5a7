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
    const { [name]: _, ...body } = await wholeBody();
    const { id } = await api.current.proxy(await wholeBody());
    const { status, body: answer } = await api.current.send('PUT', `/proxies/${id}`, { body });
    if (absent === 'refused') {
      expect({ status, errors: answer.errors }).toEqual({ status: 400, errors: { [name]: ['is required'] } });
    } else {
      expect({ status, value: answer[answered] }).toEqual({ status: 200, value: schema.default });
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
