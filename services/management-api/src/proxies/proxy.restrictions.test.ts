import { openTestCoherence, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

// Its own, because a lease here is in the way of every change
const api = useStack((stack) => startTestManagement(stack));

const minimal = { name: 'P', destination_url: 'https://example.com' };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const post = (part: object) => api.current.send('POST', '/proxies', { body: { ...minimal, ...part } });
const put = (id: string, part: object) => api.current.send('PUT', `/proxies/${id}`, { body: { ...minimal, ...part } });
const patch = (id: string, body: object) => api.current.send('PATCH', `/proxies/${id}`, { body, headers: mergePatch });
const restore = (id: string) => api.current.send('POST', `/proxies/${id}/versions/1/restore`);

/** A gateway of the version before: it takes part in changes, and its lease does not say what it knows. */
async function startFormerVersion(): Promise<AsyncDisposable> {
  const { db, databaseUrl: url } = api.current;
  const stack = new AsyncDisposableStack();
  await openTestCoherence({ db, url }, stack);
  const former = { service: 'proxy-gateway', knows: null };
  await db.updateTable('cache_leases').set(former).where('service', '=', 'test').execute();
  return stack;
}

const refused = (member: string) => ({
  status: 503,
  body: { detail: expect.stringMatching(new RegExp(`^${member} cannot be set yet.*\\(1 of proxy-gateway\\)$`)) },
});

const restricting: [member: string, value: unknown, other: unknown][] = [
  ['token_places', [], ['path']],
  ['request_headers', { 'X-A': 'k' }, { 'X-A': 'other' }],
  ['allowed_methods', ['GET'], ['POST']],
  ['allowed_paths', ['/v1/a'], ['/v1/b']],
  ['response_guard', 'redact', 'block'],
];

describe.each(restricting)('%s', (member, value, other) => {
  test('is set by no write while a process would ignore it', async () => {
    const plain = await api.current.proxy();
    const set = await api.current.proxy({ [member]: value });
    await patch(set.id, { [member]: null });
    await using _ = await startFormerVersion();
    expect(await post({ [member]: value })).toMatchObject(refused(member));
    expect(await put(plain.id, { [member]: value })).toMatchObject(refused(member));
    expect(await patch(plain.id, { [member]: value })).toMatchObject(refused(member));
    expect(await restore(set.id)).toMatchObject(refused(member));
    expect((await api.current.send('GET', `/proxies/${plain.id}`)).body).toEqual(plain);
  });

  test('stays by every write that does not change it, is not changed, and may be taken away', async () => {
    const { id } = await api.current.proxy({ [member]: value });
    const beside = async <A>(write: () => Promise<A>): Promise<A> => {
      await using _ = await startFormerVersion();
      return await write();
    };
    expect((await beside(() => patch(id, { name: 'Other' }))).status).toBe(204);
    expect((await beside(() => patch(id, { [member]: value }))).status).toBe(204);
    expect(await beside(() => put(id, {}))).toMatchObject({ status: 200, body: { [member]: value } });
    {
      await using _ = await startFormerVersion();
      expect(await patch(id, { [member]: other })).toMatchObject(refused(member));
    }
    expect((await beside(() => patch(id, { [member]: null }))).status).toBe(204);
  });

  test('the control: once that process is gone it is set', async () => {
    {
      await using _ = await startFormerVersion();
      expect((await post({ [member]: value })).status).toBe(503);
    }
    expect((await post({ [member]: value })).status).toBe(201);
  });
});

test('what does not restrict is set at any time: more places than the body, no headers, a time, and no guard', async () => {
  await using _ = await startFormerVersion();
  const part = { token_places: ['body', 'path'], request_headers: {}, head_timeout_s: 60, response_guard: 'off' };
  expect(await post(part)).toMatchObject({ status: 201, body: part });
});
