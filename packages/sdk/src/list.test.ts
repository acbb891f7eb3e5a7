import type { IncomingMessage, ServerResponse } from 'node:http';
import { startScripted } from './testing/scripted-server.ts';

/** A collection read in numbered pages, newest first, as the services do it. */
function collection(ids: string[]) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('size') ?? 20)];
    const pagination = {
      total_items: ids.length,
      page_number: page,
      page_size: size,
      total_pages: Math.ceil(ids.length / size),
    };
    const data = ids.slice((page - 1) * size, page * size).map((id) => ({ id }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ pagination, data }));
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

test.each([0, 1, 19, 20, 21, 60])('all of %i items come, each once, in their order', async (count) => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [collection(numbered(count))]);
  const items = await sluice.proxies.list().toArray();
  expect(items.map(({ id }) => id)).toEqual(numbered(count));
});

test.each([1, 3, 7, 20])('a loop that deletes what it is given reaches all of them (pages of %i)', async (size) => {
  await using stack = new AsyncDisposableStack();
  const ids = numbered(45);
  const { sluice } = await startScripted(stack, [collection(ids)]);
  const given: string[] = [];
  for await (const { id } of sluice.proxies.list({ size })) {
    given.push(id);
    ids.splice(ids.indexOf(id), 1);
  }
  expect(given.sort()).toEqual(numbered(45).sort());
  expect(ids).toEqual([]);
});

test('a loop that deletes some reaches all of them', async () => {
  await using stack = new AsyncDisposableStack();
  const ids = numbered(50);
  const { sluice } = await startScripted(stack, [collection(ids)]);
  const given: string[] = [];
  for await (const { id } of sluice.proxies.list({ size: 7 })) {
    given.push(id);
    if (Number(id) % 3 === 0) ids.splice(ids.indexOf(id), 1);
  }
  expect(given.sort()).toEqual(numbered(50).sort());
});

test.each([1, 4, 6, 9])(
  'while %i items go with each page, a loop reaches all that stay, and its end',
  async (count) => {
    await using stack = new AsyncDisposableStack();
    const stay = numbered(300).map((id) => `stays-${id}`);
    const ids = stay.flatMap((id) => [`goes-before-${id}`, id]);
    let pages = 0;
    const answerAndDelete = (request: IncomingMessage, response: ServerResponse) => {
      pages += 1;
      collection(ids)(request, response);
      for (const id of ids.filter((one) => one.startsWith('goes')).slice(0, count)) ids.splice(ids.indexOf(id), 1);
    };
    const { sluice } = await startScripted(stack, [answerAndDelete]);
    const given = await sluice.proxies.list({ size: 10 }).toArray();
    expect(given.map(({ id }) => id).filter((id) => id.startsWith('stays'))).toEqual(expect.arrayContaining(stay));
    expect(pages).toBeLessThan(3 * 60 + 3);
  },
);

test('items that come meanwhile make none come twice', async () => {
  await using stack = new AsyncDisposableStack();
  const ids = numbered(30);
  const { sluice } = await startScripted(stack, [collection(ids)]);
  const given: string[] = [];
  for await (const { id } of sluice.proxies.list({ size: 10 })) {
    given.push(id);
    if (given.length === 10) ids.unshift('new-1', 'new-2', 'new-3');
  }
  expect(given).toEqual(numbered(30));
});

test('a cursor is followed to its end', async () => {
  await using stack = new AsyncDisposableStack();
  const page = (id: string, next?: string) => ({
    status: 200,
    body: { pagination: { page_size: 1, ...(next && { next }) }, data: [{ id }] },
  });
  const { seen, sluice } = await startScripted(stack, [page('a', 'c+1'), page('b', 'c/2'), page('c')]);
  const items = await sluice.proxies.list({ size: 1, page: 1 }).toArray();
  expect(items).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  expect(seen.map(({ url }) => url)).toEqual([
    '/proxies?size=1&page=1',
    '/proxies?size=1&start=c%2B1',
    '/proxies?size=1&start=c%2F2',
  ]);
});

test('a search is a list too: its pages are asked for in the body', async () => {
  await using stack = new AsyncDisposableStack();
  const page = (number: number) => ({
    status: 200,
    body: {
      pagination: { total_items: 2, page_number: number, page_size: 1, total_pages: 2 },
      data: [{ id: `${number}` }],
    },
  });
  const { seen, sluice } = await startScripted(stack, [page(1), page(2)]);
  expect(await sluice.tokens.search({ query: 'type:card', size: 1 }).toArray()).toEqual([{ id: '1' }, { id: '2' }]);
  expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
    { query: 'type:card', size: 1 },
    { query: 'type:card', size: 1, page: 2 },
  ]);
});

test('a plain array is a list of one page', async () => {
  await using stack = new AsyncDisposableStack();
  const { sluice } = await startScripted(stack, [{ status: 200, body: [{ type: 'token:read' }] }]);
  expect(await sluice.permissions.list().page()).toEqual([{ type: 'token:read' }]);
  expect(await sluice.permissions.list().toArray()).toEqual([{ type: 'token:read' }]);
});

test('nothing is asked for before it is iterated, nor after the loop is left', async () => {
  await using stack = new AsyncDisposableStack();
  const { seen, sluice } = await startScripted(stack, [collection(numbered(50))]);
  const list = sluice.proxies.list();
  expect(seen).toEqual([]);
  for await (const { id } of list) if (id === '3') break;
  expect(seen).toHaveLength(1);
});
