import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const uses = (id: string, key?: string) =>
  api.current.send('GET', `/applications/${id}/uses`, key === undefined ? {} : { key });

async function keyWith(permissions: string[]): Promise<string> {
  return (await api.current.application({ type: 'management', permissions })).key;
}

async function used() {
  const { application, proxy, reactor } = api.current;
  const { id } = await application();
  const named = { application: { id } };
  const proxies = [await proxy({ ...named, name: 'Older' }), await proxy({ ...named, name: 'Newer' })];
  await proxy({ name: 'Of none' });
  const reactors = [await reactor(named)];
  return { id, proxies, reactors };
}

test('200 with what uses it, newest first', async () => {
  const { id, proxies, reactors } = await used();
  const { status, body } = await uses(id);
  expect(status).toBe(200);
  expect(body).toEqual({
    proxy_count: 2,
    reactor_count: 1,
    proxies: proxies.toReversed().map(({ id, name }) => ({ id, name })),
    reactors: reactors.map(({ id, name }) => ({ id, name })),
  });
});

test('the counts are for everybody, each list only for who may read its kind', async () => {
  const { id } = await used();
  const counts = { proxy_count: 2, reactor_count: 1 };
  const { body: neither } = await uses(id, await keyWith(['application:read']));
  expect(neither).toEqual(counts);
  const { body: proxiesOnly } = await uses(id, await keyWith(['application:read', 'proxy:read']));
  expect(Object.keys(proxiesOnly).sort()).toEqual(['proxies', 'proxy_count', 'reactor_count']);
});

test('an unused Application has none', async () => {
  const { id } = await api.current.application();
  const { body } = await uses(id);
  expect(body).toEqual({ proxy_count: 0, reactor_count: 0, proxies: [], reactors: [] });
});

test('403 without application:read, 404 for an unknown id, 400 for what is no id', async () => {
  const { id } = await api.current.application();
  expect((await uses(id, await keyWith(['proxy:read']))).status).toBe(403);
  expect((await uses(randomUUID())).status).toBe(404);
  expect((await uses('x')).status).toBe(400);
});

describe('a Proxy whose Application went', () => {
  const proxyOf = async (id: string) => (await api.current.send('GET', `/proxies/${id}`)).body;
  const patch = (id: string, body: object) =>
    api.current.send('PATCH', `/proxies/${id}`, {
      body,
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });

  async function orphan() {
    const { application, proxy, send } = api.current;
    const { id: applicationId } = await application();
    const { id } = await proxy({ application: { id: applicationId } });
    expect(await proxyOf(id)).not.toHaveProperty('former_application_id');
    await send('DELETE', `/applications/${applicationId}`);
    return { id, applicationId };
  }

  test('says so, in lists too', async () => {
    const { id, applicationId } = await orphan();
    const shown = await proxyOf(id);
    expect([shown.application_id, shown.former_application_id]).toEqual([undefined, applicationId]);
    const { body } = await api.current.send('GET', `/proxies?id=${id}`);
    expect(body.data[0].former_application_id).toBe(applicationId);
  });

  test('until a change names an Application, or none', async () => {
    const { application } = api.current;
    const { id, applicationId } = await orphan();
    await patch(id, { name: 'Other' });
    expect((await proxyOf(id)).former_application_id).toBe(applicationId);
    const { id: newId } = await application();
    await patch(id, { application: { id: newId } });
    const shown = await proxyOf(id);
    expect([shown.application_id, shown.former_application_id]).toEqual([newId, undefined]);
    const other = await orphan();
    await patch(other.id, { application: null });
    expect(await proxyOf(other.id)).not.toHaveProperty('former_application_id');
  });

  test('also where it has expired and is not deleted yet', async () => {
    const { application, proxy, db } = api.current;
    const { id: applicationId } = await application();
    const { id } = await proxy({ application: { id: applicationId } });
    const past = new Date(Date.now() - 60_000).toISOString();
    await db.updateTable('applications').set({ expires_at: past }).where('id', '=', applicationId).execute();
    expect((await proxyOf(id)).former_application_id).toBe(applicationId);
  });
});
