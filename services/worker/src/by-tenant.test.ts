import { byTenant } from './by-tenant.ts';

test('works by turns until none has more, and one that fails stops only itself', async () => {
  const done: string[] = [];
  const left = new Map([
    ['a', 3],
    ['b', 1],
    ['c', 2],
  ]);
  const work = async (id: string) => {
    if (id === 'b') throw new Error('the shard of b is away');
    done.push(id);
    left.set(id, (left.get(id) ?? 0) - 1);
    return (left.get(id) ?? 0) > 0;
  };
  await expect(byTenant(['a', 'b', 'c'], work)).rejects.toMatchObject({
    message: '1 of 3 Tenants failed; the others are done',
    errors: [new Error('the shard of b is away')],
  });
  expect(done).toEqual(['a', 'c', 'a', 'c', 'a']);
});
