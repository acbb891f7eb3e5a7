import { queryOf } from './token-search.ts';

test.each([
  [{}, undefined],
  [{ type: 'card' }, 'type:"card"'],
  [{ id: 'a"b\\c' }, 'id:"a\\"b\\\\c"'],
  [{ container: '/pci/*' }, 'container:/pci/*'],
  [{ container: '/pci/' }, 'container:"/pci/"'],
  [{ container: '/a" OR id:x*' }, 'container:"/a\\" OR id:x*"'],
  [{ metadata: 'order no=a=b' }, 'metadata."order no":"a=b"'],
  [
    { type: 'card', from: '2026-01-01T00:00:00.000Z' },
    'type:"card" AND created_at:[2026-01-01T00:00:00.000Z TO 9999-12-30T00:00:00Z]',
  ],
  [{ to: '2026-01-01T00:00:00.000Z' }, 'created_at:[1970-01-01T00:00:00Z TO 2026-01-01T00:00:00.000Z]'],
])('%j is %s in the language of the search', (filters, query) => {
  expect(queryOf(filters)).toBe(query);
});
