import { readCounter } from '@sluice/database';
import { useStack } from '@sluice/testing';
import { type Actor, createToken, deleteExpiredTokens, findToken, readTokenUsage, tokenize } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);

async function createMany(actor: Actor, count: number, input: object = { data: 1 }): Promise<string[]> {
  const created = await tokenize(
    open.current.vault,
    actor,
    Array.from({ length: count }, () => ({ type: 'token', ...input })),
  );
  return (created as { id: string }[]).map(({ id }) => id);
}

async function sweep({ tenantId }: Actor): Promise<number> {
  const deleteBatch = () => open.current.db.transaction().execute((tx) => deleteExpiredTokens(tx, tenantId));
  let deleted = 0;
  for (let batch = await deleteBatch(); batch > 0; batch = await deleteBatch()) deleted += batch;
  return deleted;
}

const storedIds = async ({ tenantId }: Actor) => {
  const rows = await open.current.db.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId).execute();
  return rows.map(({ id }) => id).sort();
};

test('expired tokens are deleted with their counts and one audit row each; others stay', async () => {
  const { db, createActor, expire, auditOf } = open.current;
  const [actor, other] = [await createActor(), await createActor()];
  const [first = '', ...kept] = await createMany(actor, 3);
  const [cardId = ''] = await createMany(actor, 1, { type: 'card', data: { number: '4242424242424242' } });
  const future = await createMany(actor, 1, { data: 1, expires_at: '2100-01-01' });
  const others = await createMany(other, 2);
  await expire(actor, [first, cardId]);
  await expire(other, others);
  expect(await sweep(actor)).toBe(2);
  expect(await storedIds(other)).toEqual([...others].sort());
  expect(await sweep(other)).toBe(2);
  expect(await storedIds(actor)).toEqual([...kept, ...future].sort());
  expect([
    await readCounter(db, actor.tenantId, 'tokens:token'),
    await readCounter(db, actor.tenantId, 'tokens:card'),
  ]).toEqual([3, 0]);
  expect((await readTokenUsage(db, other.tenantId, new Date())).metrics_by_type.token?.count).toBe(0);
  expect((await auditOf(actor, 'expire')).map((row) => [row.entity_id, row.actor_id])).toEqual(
    [first, cardId].sort().map((id) => [id, null]),
  );
  expect(await auditOf(other, 'expire')).toHaveLength(2);
  expect(await sweep(actor)).toBe(0);
});

test('more than a batch, by several workers at once: each once', async () => {
  const { db, createActor, expire, auditOf } = open.current;
  const actor = await createActor();
  const ids = [...(await createMany(actor, 900)), ...(await createMany(actor, 600))];
  await expire(actor, ids);
  const deleted = await Promise.all([sweep(actor), sweep(actor), sweep(actor)]);
  await sweep(actor);
  expect(await storedIds(actor)).toEqual([]);
  expect(deleted.every((count) => count >= 0)).toBe(true);
  expect(await auditOf(actor, 'expire')).toHaveLength(1500);
  expect(await readCounter(db, actor.tenantId, 'tokens:token')).toBe(0);
});

describe('the id of an expired token', () => {
  test('is free before any worker has come, by create and by tokenize, with counts and audit right', async () => {
    const { vault, db, createActor, expire, auditOf } = open.current;
    const actor = await createActor();
    const { tenantId } = actor;
    await createToken(vault, actor, { id: 'first', data: 'old' });
    await createToken(vault, actor, { id: 'second', type: 'card', data: { number: '4242424242424242' } });
    await expire(actor, ['first', 'second']);
    const { created, token } = await createToken(vault, actor, { id: 'first', data: 'new' });
    expect([created, token.data, (await findToken(vault, actor, 'first')).data]).toEqual([true, 'new', 'new']);
    await tokenize(vault, actor, [{ type: 'token', id: 'second', data: 'x' }, 'y']);
    expect(await readCounter(db, tenantId, 'tokens:token')).toBe(3);
    expect(await readCounter(db, tenantId, 'tokens:card')).toBe(0);
    expect((await auditOf(actor, 'expire')).map((row) => row.entity_id)).toEqual(['first', 'second']);
    const rows = await auditOf(actor, 'create');
    expect(rows.flatMap(({ entity_id, detail }) => detail?.token_ids ?? entity_id)).toHaveLength(5);
    expect(rows).toHaveLength(4);
  });

  test('is free where tokens are deduplicated, too, and an expired token is equal to none', async () => {
    const { vault, createActor, createTenant, expire } = open.current;
    const actor = await createActor({ tenantId: await createTenant({ deduplicate_tokens: true }) });
    await createToken(vault, actor, { id: 'same', data: 'equal' });
    await expire(actor, ['same']);
    const again = await createToken(vault, actor, { id: 'same', data: 'equal' });
    expect([again.created, again.token.data]).toEqual([true, 'equal']);
    expect((await createToken(vault, actor, { data: 'equal' })).token.id).toBe('same');
  });

  test('stays taken by a token that has not expired, and all of a request is refused with it', async () => {
    const { vault, createActor, expire } = open.current;
    const [actor, other] = [await createActor(), await createActor()];
    await createToken(vault, actor, { id: 'alive', data: 1 });
    await createToken(vault, actor, { id: 'expired', data: 1 });
    await createToken(vault, other, { id: 'alive', data: 1 });
    await expire(actor, ['expired']);
    await expire(other, ['alive']);
    const both = ['expired', 'alive'].map((id) => ({ type: 'token', id, data: 2 }));
    await expect(tokenize(vault, actor, both)).rejects.toMatchObject({ code: 'conflict' });
    expect(await storedIds(actor)).toEqual(['alive']);
    expect(await storedIds(other)).toEqual(['alive']);
  });

  test('is free while a worker is deleting it', async () => {
    const { vault, db, createActor, expire } = open.current;
    const actor = await createActor();
    await createToken(vault, actor, { id: 'being-deleted', data: 1 });
    await expire(actor, ['being-deleted']);
    const creation = await db.transaction().execute(async (tx) => {
      await deleteExpiredTokens(tx, actor.tenantId);
      const begun = createToken(vault, actor, { id: 'being-deleted', data: 2 });
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { begun };
    });
    expect((await creation.begun).created).toBe(true);
    expect(await readCounter(db, actor.tenantId, 'tokens:token')).toBe(1);
  });

  test('of many who want it at once, one gets it', async () => {
    const { vault, db, createActor, expire } = open.current;
    const actor = await createActor();
    await createToken(vault, actor, { id: 'wanted', data: 1 });
    await expire(actor, ['wanted']);
    const wishes = Array.from({ length: 8 }, (_, i) => createToken(vault, actor, { id: 'wanted', data: i }));
    const outcomes = await Promise.allSettled(wishes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readCounter(db, actor.tenantId, 'tokens:token')).toBe(1);
  });
});
