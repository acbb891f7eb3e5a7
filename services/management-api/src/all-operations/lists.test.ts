import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

async function tenantWith(resource: 'applications' | 'proxies', count: number) {
  const { management_key: key, application_id } = await api.current.anotherTenant('T');
  const ids: string[] = resource === 'applications' ? [application_id] : [];
  while (ids.length < count) {
    const { application, proxy } = api.current;
    const { id } = await (resource === 'applications' ? application({}, { key }) : proxy({}, { key }));
    ids.unshift(id);
    // The order depends on the millisecond
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const list = (query = '') => api.current.send('GET', `/${resource}${query}`, { key });
  return { key, ids, list };
}

const idsOf = (data: { id: string }[]) => data.map(({ id }) => id);

describe.each(['applications', 'proxies'] as const)('%s', (resource) => {
  test('newest first, 20 to a page, the rest on the next; totals are of all pages', async () => {
    const { ids, list } = await tenantWith(resource, 23);
    const first = await list();
    expect(first.status).toBe(200);
    expect(Object.keys(first.body).sort()).toEqual(['data', 'pagination']);
    expect(first.body.pagination).toEqual({ total_items: 23, page_number: 1, page_size: 20, total_pages: 2 });
    expect(idsOf(first.body.data)).toEqual(ids.slice(0, 20));
    const second = await list('?page=2');
    expect(second.body.pagination).toEqual({ total_items: 23, page_number: 2, page_size: 20, total_pages: 2 });
    expect(idsOf(second.body.data)).toEqual(ids.slice(20));
    const past = await list('?page=3');
    expect(past).toMatchObject({ status: 200, body: { data: [], pagination: { total_items: 23, page_number: 3 } } });
    const far = await list('?page=2147483647&size=100');
    expect(far).toMatchObject({ status: 200, body: { data: [], pagination: { total_items: 23, total_pages: 1 } } });
    expect((await list('?page=&size=')).body.pagination).toMatchObject({ page_number: 1, page_size: 20 });
    expect(idsOf((await list('?size=5&page=2')).body.data)).toEqual(ids.slice(5, 10));
    expect((await list('?size=100')).body.data).toHaveLength(23);
  });

  test.each([
    ['page', '0'],
    ['page', '-1'],
    ['page', '1.5'],
    ['page', 'x'],
    ['page', '2147483648'],
    ['size', '0'],
    ['size', '101'],
    ['size', 'all'],
    ['size', '1&size=2'],
  ])('%s=%s is 400', async (name, value) => {
    const { status, body } = await api.current.send('GET', `/${resource}?${name}=${value}`);
    expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: [name] });
  });

  test('ids may be repeated, written id[] or separated by commas; totals count what matches', async () => {
    const { ids, list } = await tenantWith(resource, 4);
    const [a, b, c] = ids as [string, string, string];
    for (const query of [
      `id=${a}&id=${c}`,
      `id[]=${c}&id[]=${a}`,
      `id=${a},${c}`,
      `id=${a}&id[]=${c},`,
      `id%5B%5D=${a}%2C${c}`,
    ]) {
      const { body } = await list(`?${query}`);
      expect(idsOf(body.data)).toEqual([a, c]);
      expect(body.pagination).toEqual({ total_items: 2, page_number: 1, page_size: 20, total_pages: 1 });
    }
    expect(idsOf((await list(`?id=${b.toUpperCase()}`)).body.data)).toEqual([b]);
    expect(idsOf((await list(`?id=${a}&id=${b}&size=1&page=2`)).body.data)).toEqual([b]);
    expect((await list(`?id=${a}&id=${a}`)).body.pagination.total_items).toBe(1);
  });

  test('an empty id filters nothing, an unknown one matches nothing', async () => {
    const { ids, list } = await tenantWith(resource, 2);
    expect(idsOf((await list('?id=')).body.data)).toEqual(ids);
    expect(idsOf((await list('?id=,')).body.data)).toEqual(ids);
    expect((await list(`?id=${randomUUID()}`)).body).toEqual({
      pagination: { total_items: 0, page_number: 1, page_size: 20, total_pages: 0 },
      data: [],
    });
  });

  test.each(['x', `urn:uuid:${randomUUID()}`, `{${randomUUID()}}`, `${randomUUID()},x`, `${randomUUID()}%00`])(
    'id=%s is 400',
    async (id) => {
      const { status, body } = await api.current.send('GET', `/${resource}?id=${id}`);
      expect(status).toBe(400);
      expect(Object.keys(body.errors)[0]).toMatch(/^id\[\d\]$/);
    },
  );

  test('deleting and creating moves the totals', async () => {
    const { key, ids, list } = await tenantWith(resource, 3);
    await api.current.send('DELETE', `/${resource}/${ids[0]}`, { key });
    expect((await list()).body.pagination.total_items).toBe(2);
  });

  test('unknown query parameters are ignored', async () => {
    expect((await api.current.send('GET', `/${resource}?foo=bar&__proto__=1&order=%zz`)).status).toBe(200);
  });
});

test('a list of applications shows no key, a list of proxies does', async () => {
  const { management_key: key } = await api.current.anotherTenant('T');
  await api.current.application({}, { key });
  const proxy = await api.current.proxy({ configuration: { a: 'b' } }, { key });
  const applications = (await api.current.send('GET', '/applications', { key })).body.data;
  expect(applications).toHaveLength(2);
  for (const application of applications) expect(application).not.toHaveProperty('key');
  expect((await api.current.send('GET', '/proxies', { key })).body.data).toEqual([proxy]);
});

test('an empty list has no pages', async () => {
  const { list } = await tenantWith('proxies', 0);
  expect((await list()).body).toEqual({
    pagination: { total_items: 0, page_number: 1, page_size: 20, total_pages: 0 },
    data: [],
  });
});

describe('proxies by name', () => {
  const names = ['Payments', 'payouts', '100% sure', 'a_b', 'a-b', 'back\\slash', 'star*'];

  const tenant = useStack(async () => {
    const { management_key: key } = await api.current.anotherTenant('T');
    for (const name of names) await api.current.proxy({ name }, { key });
    return { key };
  });

  test.each([
    ['pay', ['Payments', 'payouts']],
    ['PAY', ['Payments', 'payouts']],
    ['pay*', ['Payments', 'payouts']],
    ['*s', ['Payments', 'payouts']],
    ['p*out*', ['payouts']],
    ['ay', ['Payments', 'payouts']],
    ['ay*', []],
    ['%', ['100% sure']],
    ['a_b', ['a_b']],
    ['_', ['a_b']],
    ['\\', ['back\\slash']],
    ['*\\*', ['back\\slash']],
    ['*', names],
    ['', names],
    ['nothing', []],
    ["' or 1=1 --", []],
  ])('name=%s finds %j', async (name, expected) => {
    const { status, body } = await api.current.send('GET', `/proxies?name=${encodeURIComponent(name)}`, tenant.current);
    expect(status).toBe(200);
    expect(body.data.map((proxy: { name: string }) => proxy.name).sort()).toEqual([...expected].sort());
    expect(body.pagination.total_items).toBe(expected.length);
  });

  test.each(['%00', 'x'.repeat(201)])('name=%s is 400', async (name) => {
    expect((await api.current.send('GET', `/proxies?name=${name}`)).status).toBe(400);
  });
});
