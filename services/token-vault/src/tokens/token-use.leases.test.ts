import { openTestCoherence, useStack } from '@sluice/testing';
import { reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

// Its own service, because a lease of another version is in the way of every change
const service = useStack(startTestTokenVault);
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const use = { max_uses: 1 };

async function createScene() {
  const { createTenant, createKey, send, db } = service.current;
  const tenantId = await createTenant();
  const key = await createKey({ tenantId, rules: [reveal] });
  const create = (body: object) => send('POST', '/tokens', { key, body: { data: 'v', ...body } });
  const tokenize = (body: object) => send('POST', '/tokenize', { key, body });
  const patch = (id: string, body: object) => send('PATCH', `/tokens/${id}`, { key, body, headers: mergePatch });
  const count = async () =>
    (await db.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId).execute()).length;
  return { key, create, tokenize, patch, count };
}

/** A gateway of the version before: it takes part in changes, and its lease does not say what it knows. */
async function startFormerVersion(): Promise<AsyncDisposable> {
  const { db, databaseUrl: url } = service.current;
  const stack = new AsyncDisposableStack();
  await openTestCoherence({ db, url }, stack);
  const former = { service: 'proxy-gateway', knows: null };
  await db.updateTable('cache_leases').set(former).where('service', '=', 'test').execute();
  return stack;
}

const refused = {
  status: 503,
  body: { detail: expect.stringMatching(/^use cannot be set yet.*\(1 of proxy-gateway\)$/) },
};

const bound = { type: 'token', data: 'v', use };
const many = Array.from({ length: 150 }, (_, i) => ({ type: 'token', data: `${i}` }));

const creations: [name: string, path: 'create' | 'tokenize', body: object][] = [
  ['a token', 'create', { use }],
  ['a token that is deduplicated', 'create', { use, deduplicate_token: true }],
  ['a token in a document', 'tokenize', { a: bound, b: 'free' }],
  ['one of many', 'tokenize', [...many, bound]],
  ['one beside one that is deduplicated', 'tokenize', [{ type: 'token', data: 'w', deduplicate_token: true }, bound]],
];

describe.each(creations)('%s with use', (_, operation, body) => {
  test('is not made, nor any beside it, while a process would ignore use', async () => {
    const scene = await createScene();
    await using former = await startFormerVersion();
    expect(former).toBeDefined();
    expect(await scene[operation](body)).toMatchObject(refused);
    expect(await scene.count()).toBe(0);
  });

  test('the control: is made once that process is gone', async () => {
    const scene = await createScene();
    {
      await using former = await startFormerVersion();
      expect(former).toBeDefined();
    }
    expect((await scene[operation](body)).status).toBeLessThan(300);
    expect(await scene.count()).toBeGreaterThan(0);
  });
});

test('meanwhile tokens without use are made, also by the same Application at the same time', async () => {
  const { create, tokenize, count } = await createScene();
  await using former = await startFormerVersion();
  expect(former).toBeDefined();
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => create({})),
    ...Array.from({ length: 10 }, () => create({ use })),
    tokenize({ a: 'x' }),
  ]);
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([...Array(10).fill(201), ...Array(10).fill(503), 200]);
  expect(await count()).toBe(11);
});

test('a patch sets and changes use in no token while a process would ignore it; the control: afterwards it does', async () => {
  const { create, patch } = await createScene();
  const [{ body: free }, { body: limited }] = [await create({}), await create({ use: { max_uses: 3 } })];
  {
    await using former = await startFormerVersion();
    expect(former).toBeDefined();
    expect(await patch(free.id, { use })).toMatchObject(refused);
    expect(await patch(limited.id, { use })).toMatchObject(refused);
    expect(await patch(limited.id, { use: { max_uses: 9 } })).toMatchObject(refused);
  }
  expect(await patch(free.id, { use })).toMatchObject({ status: 200, body: { use } });
  expect(await patch(limited.id, { use })).toMatchObject({ status: 200, body: { use } });
});

test('a stored use stays by other changes, may be sent as it is, and may be removed', async () => {
  const { create, patch } = await createScene();
  const { body: token } = await create({ use: { methods: ['GET'], max_uses: 3 } });
  const beside = async (body: object) => {
    await using former = await startFormerVersion();
    expect(former).toBeDefined();
    return await patch(token.id, body);
  };
  expect(await beside({ data: 'w' })).toMatchObject({ status: 200, body: { use: token.use } });
  expect((await beside({ use: { max_uses: 3, methods: ['get'] } })).status).toBe(200);
  expect((await beside({ use: null })).status).toBe(200);
});
