import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const patch = (id: string, body: object) => api.current.send('PATCH', `/proxies/${id}`, { body, headers: mergePatch });
const get = async (path: string) => (await api.current.send('GET', `/proxies${path}`)).body;

describe.each(['off', 'tokenize', 'redact', 'block'])('the guard %s', (mode) => {
  test('is set by create, PUT and PATCH, and listed', async () => {
    const made = await api.current.proxy({ response_guard: mode });
    const replaced = await api.current.proxy();
    const { name, destination_url } = replaced;
    const body = { name, destination_url, response_guard: mode };
    expect((await api.current.send('PUT', `/proxies/${replaced.id}`, { body })).status).toBe(200);
    const patched = await api.current.proxy();
    expect((await patch(patched.id, { response_guard: mode })).status).toBe(204);
    const ids = [made, replaced, patched].map(({ id }) => id);
    const { data } = await get(`?${ids.map((id) => `id=${id}`).join('&')}`);
    expect(data).toEqual(ids.map(() => expect.objectContaining({ response_guard: mode })));
  });

  test('is unset by a PATCH with null, in a version of its own, and set by the restore of a version that had it', async () => {
    const { id } = await api.current.proxy({ response_guard: mode });
    expect((await patch(id, { response_guard: null })).status).toBe(204);
    expect(await get(`/${id}`)).not.toHaveProperty('response_guard');
    expect((await get(`/${id}/versions`)).data[0]).toMatchObject({ version: 2, changed: ['response_guard'] });
    expect(await get(`/${id}/versions/1`)).toMatchObject({ response_guard: mode });
    expect((await api.current.send('POST', `/proxies/${id}/versions/1/restore`)).status).toBe(200);
    expect(await get(`/${id}`)).toMatchObject({ response_guard: mode });
  });
});

test('the restore of a version without a guard takes it away', async () => {
  const { id } = await api.current.proxy();
  await patch(id, { response_guard: 'block' });
  await api.current.send('POST', `/proxies/${id}/versions/1/restore`);
  expect(await get(`/${id}`)).not.toHaveProperty('response_guard');
});

test('a fault names the modes', async () => {
  const { id } = await api.current.proxy();
  const { status, body } = await patch(id, { response_guard: 'on' });
  expect([status, body.errors.response_guard]).toEqual([400, ['must be one of off, tokenize, redact, block, null']]);
});
