import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const patch = (id: string, body: object) => api.current.send('PATCH', `/proxies/${id}`, { body, headers: mergePatch });
const put = (id: string, body: object) => api.current.send('PUT', `/proxies/${id}`, { body });
const restore = (id: string, version: number) => api.current.send('POST', `/proxies/${id}/versions/${version}/restore`);
const get = async (id: string) => (await api.current.send('GET', `/proxies/${id}`)).body;

/** What the gateway reads to know whose rights reveal the tokens of `request_headers`. */
async function columnsOf(id: string) {
  const row = api.current.db.selectFrom('proxies').select(['application_id', 'named_application_id']);
  return row.where('id', '=', id).executeTakeFirstOrThrow();
}

async function named() {
  const { application, proxy } = api.current;
  const { id: applicationId } = await application();
  const made = await proxy({ application: { id: applicationId }, request_headers: { 'X-A': 'first' } });
  return { applicationId, made, id: made.id as string };
}

/** As any version deletes it. */
const end = (applicationId: string) => api.current.send('DELETE', `/applications/${applicationId}`);

test('an Application that is deleted stays named, whatever else is changed', async () => {
  const { applicationId, id } = await named();
  await end(applicationId);
  expect((await patch(id, { name: 'Other', request_headers: { 'X-A': 'second' } })).status).toBe(204);
  expect(await columnsOf(id)).toEqual({ application_id: null, named_application_id: applicationId });
  expect(await get(id)).toMatchObject({ former_application_id: applicationId });
});

test('one that has expired stays named, before and after it is deleted', async () => {
  const { applicationId, id } = await named();
  const { db } = api.current;
  const expires_at = new Date(0).toISOString();
  await db.updateTable('applications').set({ expires_at }).where('id', '=', applicationId).execute();
  expect((await patch(id, { name: 'Other' })).status).toBe(204);
  expect((await columnsOf(id)).named_application_id).toBe(applicationId);
  await db.updateTable('proxies').set({ application_id: null }).where('id', '=', id).execute(); // the sweep of any version
  expect((await patch(id, { name: 'Another' })).status).toBe(204);
  expect((await columnsOf(id)).named_application_id).toBe(applicationId);
});

describe('it is named no more after', () => {
  test.each<[string, (id: string, made: object) => Promise<{ status: number }>]>([
    ['a patch with application null', (id) => patch(id, { application: null })],
    ['a patch with application_id null', (id) => patch(id, { application_id: null })],
    ['a PUT without it', (id) => put(id, { name: 'P', destination_url: 'https://example.com' })],
    ['a PUT of what was read', async (id) => put(id, await get(id))],
  ])('%s, which makes a version', async (_name, change) => {
    const { applicationId, id, made } = await named();
    await end(applicationId);
    expect((await change(id, made)).status).toBeLessThan(300);
    expect(await columnsOf(id)).toEqual({ application_id: null, named_application_id: null });
    const { body } = await api.current.send('GET', `/proxies/${id}/versions`);
    expect(body.data[0].changed).toContain('application_id');
  });
});

test('naming another one counts, by either member; application wins', async () => {
  const { id } = await named();
  const [one, two] = [await api.current.application(), await api.current.application()];
  for (const [part, expected] of [
    [{ application: { id: one.id } }, one.id],
    [{ application_id: two.id }, two.id],
    [{ application: { id: one.id }, application_id: two.id }, one.id],
    [{ application: null, application_id: two.id }, null],
  ]) {
    expect((await patch(id, part)).status).toBe(204);
    expect(await columnsOf(id)).toEqual({ application_id: expected, named_application_id: expected });
  }
});

describe('restoring a version', () => {
  test('that named an Application which is gone by now names it still', async () => {
    const { applicationId, id } = await named();
    await patch(id, { application: null });
    await end(applicationId);
    expect((await restore(id, 1)).body).toMatchObject({ former_application_id: applicationId });
    expect(await columnsOf(id)).toEqual({ application_id: null, named_application_id: applicationId });
  });

  test('made while its Application was gone names it still', async () => {
    const { applicationId, id } = await named();
    await end(applicationId);
    await patch(id, { name: 'Second' });
    await patch(id, { application: null });
    await restore(id, 2);
    expect((await columnsOf(id)).named_application_id).toBe(applicationId);
  });

  test('that is the present one changes nothing', async () => {
    const { applicationId, id } = await named();
    await end(applicationId);
    await restore(id, 1);
    expect((await columnsOf(id)).named_application_id).toBe(applicationId);
    expect((await api.current.send('GET', `/proxies/${id}/versions`)).body.data).toHaveLength(1);
  });

  test('replaces every member, those that it did not have too', async () => {
    const { proxy } = api.current;
    const made = await proxy();
    const later = { token_places: ['path'], request_headers: { 'X-A': 'k' }, head_timeout_s: 5 };
    await patch(made.id, later);
    const { status, body } = await restore(made.id, 1);
    expect(status).toBe(200);
    for (const member of Object.keys(later)) expect(body).not.toHaveProperty(member);
    const { body: again } = await restore(made.id, 2);
    expect(again).toMatchObject(later);
  });
});

test('an Application that a process of the version before named counts, and is kept by the next change', async () => {
  const { id } = await named();
  const { id: later } = await api.current.application();
  await api.current.db.updateTable('proxies').set({ application_id: later }).where('id', '=', id).execute();
  await patch(id, { name: 'Other' });
  expect(await columnsOf(id)).toEqual({ application_id: later, named_application_id: later });
});

test('one that a process of the version before named stays named once it is deleted, not the one before it', async () => {
  const { id } = await named();
  const { id: later } = await api.current.application();
  await api.current.db.updateTable('proxies').set({ application_id: later }).where('id', '=', id).execute();
  await end(later);
  expect(await columnsOf(id)).toEqual({ application_id: null, named_application_id: later });
});
