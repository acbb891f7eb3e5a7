import { recordStatements, useStack } from '@sluice/testing';
import {
  type Actor,
  createToken,
  deleteToken,
  findToken,
  type Json,
  listTokens,
  tokenize,
  updateToken,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** Tokens with `use` and deduplication. */
describe.each([
  { name: 'by the setting', setting: true, member: {}, tokensOnShards: false },
  { name: 'by the member', setting: false, member: { deduplicate_token: true }, tokensOnShards: false },
  { name: 'by the setting, on shards', setting: true, member: {}, tokensOnShards: true },
])('deduplicated $name', ({ setting, member, tokensOnShards }) => {
  const open = useStack((stack) => openTestVault(stack, { tokensOnShards }));
  const use = { max_uses: 1 };

  async function createScene() {
    const { vault, createActor, createTenant } = open.current;
    const tenantId = await createTenant({ deduplicate_tokens: setting });
    const actor: Actor = { ...(await createActor({ tenantId })), type: 'private' };
    const create = (part: object = {}) => createToken(vault, actor, { data: 'v', ...member, ...part });
    const patch = async (id: string, part: object) =>
      (await updateToken(vault, actor, id, { ...member, ...part })).token;
    return { vault, actor, create, patch };
  }

  test('each create with use makes a token, and one without finds only what has none', async () => {
    const { create } = await createScene();
    const bound = [await create({ use }), await create({ use })];
    const free = await create();
    expect([...bound, free].map(({ created }) => created)).toEqual([true, true, true]);
    expect(new Set([...bound, free].map(({ token }) => token.id)).size).toBe(3);
    expect(await create()).toMatchObject({ created: false, token: { id: free.token.id } });
    expect(await create({ use })).toMatchObject({ created: true, token: { use } });
  });

  test('in one request too, and at the same time', async () => {
    const { vault, actor, create } = await createScene();
    const [bound, free] = [
      { type: 'token', data: 'v', ...member, use },
      { type: 'token', data: 'v', ...member },
    ];
    const made = (await tokenize(vault, actor, [bound, free, free, bound] as Json)) as { id: string; use?: object }[];
    const [first, second, third, fourth] = made.map(({ id }) => id);
    expect(second).toBe(third);
    expect(new Set([first, second, fourth]).size).toBe(3);
    expect(made.map(({ use }) => use)).toEqual([use, undefined, undefined, use]);
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => create(i % 2 ? { use } : {})));
    expect(all.filter(({ created }) => created)).toHaveLength(10);
    expect(all.filter(({ token }) => token.id === second)).toHaveLength(10);
  });

  test('an update conflicts with no token that has use, nor does one of such a token; the control: others do', async () => {
    const { create, patch } = await createScene();
    const { token: bound } = await create({ use });
    const { token: other } = await create({ data: 'w' });
    expect((await patch(other.id, { data: 'v' })).data).toBe('v');
    expect((await patch(bound.id, { data: 'w' })).data).toBe('w');
    expect((await patch(bound.id, { data: 'v' })).data).toBe('v');
    const { token: third } = await create({ data: 'x' });
    await expect(patch(third.id, { data: 'v' })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('removing use conflicts with an equal token without it; the controls: with none, and where tokens are not deduplicated', async () => {
    const { vault, actor, create, patch } = await createScene();
    const { token: bound } = await create({ use });
    const { token: another } = await create({ use });
    const { token: free } = await create();
    await expect(patch(bound.id, { use: null })).rejects.toMatchObject({ code: 'conflict' });
    expect(await findToken(vault, actor, bound.id)).toEqual({ ...bound, uses: 0 });
    expect((await patch(bound.id, { use: null, data: 'w' })).data).toBe('w');
    await deleteToken(vault, actor, free.id);
    expect(await patch(another.id, { use: null })).not.toHaveProperty('use');
    expect(await create()).toMatchObject({ created: false, token: { id: another.id } });
    const { token: third } = await create({ use });
    await patch(third.id, { use: null, deduplicate_token: false });
  });

  test('a token that gets use is found no more', async () => {
    const { create, patch } = await createScene();
    const { token } = await create();
    await patch(token.id, { use });
    const { created, token: next } = await create();
    expect(created).toBe(true);
    await expect(patch(token.id, { use: null })).rejects.toMatchObject({ code: 'conflict' });
    expect(await create()).toMatchObject({ created: false, token: { id: next.id } });
  });

  test('of a create and a removal at the same time, one finds the other', async () => {
    const { vault, actor, create, patch } = await createScene();
    for (let i = 0; i < 10; i++) {
      const part = { data: `v${i}` };
      const { token } = await create({ ...part, use });
      await Promise.allSettled([patch(token.id, { use: null }), create(part)]);
    }
    const { tokens } = await listTokens(vault, actor, {}, { page: 1, size: 100 });
    const free = tokens.filter(({ use }) => use === undefined);
    expect(free).toHaveLength(10);
    expect(new Set(free.map(({ fingerprint }) => fingerprint)).size).toBe(10);
  });
});

describe('statements', () => {
  const open = useStack(openTestVault);

  test('a read, a list and an update of tokens without max_uses make none more; those with it do', async () => {
    const { vault: warm, createActor } = open.current;
    const actor = await createActor();
    const { db, statements } = recordStatements(warm.db);
    const vault = { ...warm, db };
    const count = async (work: () => Promise<unknown>) => {
      statements.length = 0;
      await work();
      return statements.filter(({ sql }) => /cache_leases|"uses"/.test(sql)).length;
    };
    const read = (id: string) => findToken(vault, actor, id);
    const list = () => listTokens(vault, actor, {}, { page: 1, size: 100 });
    const free = await createToken(vault, actor, { data: 'v' });
    const bound = await createToken(vault, actor, { data: 'v', use: { methods: ['GET'] } });
    expect(await count(() => read(free.token.id))).toBe(0);
    expect(await count(() => read(bound.token.id))).toBe(0);
    expect(await count(list)).toBe(0);
    expect(await count(() => updateToken(vault, actor, bound.token.id, { metadata: { a: 'b' } }))).toBe(0);
    for (let i = 0; i < 3; i++)
      await createToken(vault, actor, { id: `limited-${i}`, data: 'v', use: { max_uses: 1 } });
    expect(await count(() => read('limited-0'))).toBe(1);
    expect(await count(list)).toBe(1);
    expect(await count(() => updateToken(vault, actor, 'limited-0', { use: { max_uses: 1, methods: ['GET'] } }))).toBe(
      2,
    );
  });
});
