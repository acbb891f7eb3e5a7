import { eventually, useStack } from '@sluice/testing';
import {
  type Actor,
  createToken,
  detokenize,
  findToken,
  type Json,
  listTokens,
  removeDueCvcs,
  revealForUse,
  searchTokens,
  tokenize,
  updateToken,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);
const lasting = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
const cvc = '987';
const mask = { cvc: '{{ data.cvc }}', number: 'no' };
const card = { type: 'card', data: { cvc, ...lasting }, mask };
const minutes = (count: number) => count * 60_000;

async function after<T>(ms: number, act: () => Promise<T>): Promise<T> {
  const { time } = open.current;
  const before = time.now;
  time.now = new Date(before.getTime() + ms);
  try {
    return await act();
  } finally {
    time.now = before;
  }
}

async function everyReading(actor: Actor, id: string): Promise<Json[]> {
  const { vault, createActor } = open.current;
  const page = { page: 1, size: 1 };
  const masked = await createActor({ tenantId: actor.tenantId, permissions: ['token:read', 'token:update'] });
  return [
    (await findToken(vault, actor, id)).data ?? null,
    (await listTokens(vault, actor, { ids: [id] }, page)).tokens[0]?.data ?? null,
    (await searchTokens(vault, actor, { query: `id:${id}`, ...page })).tokens[0]?.data ?? null,
    await detokenize(vault, actor, `{{ ${id} }}`),
    await detokenize(vault, actor, `{{ ${id} }}`, 'use'),
    (await revealForUse(vault, actor, [id])).get(id) ?? null,
    (await updateToken(vault, actor, id, {})).token.data ?? null,
    { ...lasting, ...Object.fromEntries(Object.entries((await findToken(vault, masked, id)).data ?? {}).slice(0, 1)) },
  ];
}

async function rowOf(id: string) {
  return open.current.db
    .selectFrom('tokens')
    .select(['data_ciphertext', 'cvc_ciphertext', 'cvc_due_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

async function makeDue(id: string): Promise<void> {
  const cvc_due_at = new Date(Date.now() - 1000).toISOString();
  await open.current.db.updateTable('tokens').set({ cvc_due_at }).where('id', '=', id).execute();
}

test('is there for an hour, and in no reading after it, though no worker has come', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, card);
  for (const data of await after(minutes(60) - 1, () => everyReading(actor, token.id))) {
    expect(data).toMatchObject({ number: expect.any(String), cvc });
  }
  for (const data of await after(minutes(60), () => everyReading(actor, token.id))) {
    expect(data).not.toHaveProperty('cvc');
    expect(data).toMatchObject({ number: expect.any(String) });
  }
});

test('leaves its place in the data as it was sent, and the rest as it is', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { type: 'card', data: { number: lasting.number, cvc, a: 1 } });
  expect(JSON.stringify((await findToken(vault, actor, token.id)).data)).toBe(
    `{"number":"${lasting.number}","cvc":"987","a":1}`,
  );
  const later = await after(minutes(61), () => findToken(vault, actor, token.id));
  expect(JSON.stringify(later.data)).toBe(`{"number":"${lasting.number}","a":1}`);
});

test('that was tokenized in a document is due as well', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const document = await tokenize(vault, actor, [{ type: 'card', data: card.data }]);
  const [{ id }] = document as [{ id: string }];
  expect(await findToken(vault, actor, id)).toHaveProperty('data.cvc', cvc);
  expect(await after(minutes(60), () => findToken(vault, actor, id))).not.toHaveProperty('data.cvc');
});

test('one that is patched in begins its own hour; a patch of something else does not', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { type: 'card', data: lasting });
  expect((await rowOf(token.id)).cvc_due_at).toBeNull();
  await after(minutes(10), () => updateToken(vault, actor, token.id, { data: { cvc: '123' } }));
  await after(minutes(50), () => updateToken(vault, actor, token.id, { data: { note: 'x' }, metadata: { a: 'b' } }));
  const at = async (when: number) => (await after(minutes(when), () => findToken(vault, actor, token.id))).data;
  expect(await at(69)).toEqual({ ...lasting, cvc: '123', note: 'x' });
  expect(await at(70)).toEqual({ ...lasting, note: 'x' });
  await after(minutes(60), () => updateToken(vault, actor, token.id, { data: { cvc: '123' } }));
  expect(await at(119)).toHaveProperty('cvc');
  expect(await at(120)).not.toHaveProperty('cvc');
});

test('a patch after its hour, or one that removes it, leaves nothing of it in the row', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const patches = [() => ({ data: { cvc: null } }), () => ({ metadata: { a: 'b' } })];
  for (const [i, patch] of patches.entries()) {
    const { token } = await createToken(vault, actor, card);
    await after(i * minutes(60), () => updateToken(vault, actor, token.id, patch()));
    expect(await rowOf(token.id)).toMatchObject({ cvc_ciphertext: null, cvc_due_at: null });
    expect((await findToken(vault, actor, token.id)).data).toEqual(lasting);
  }
});

test('a worker deletes those that are due, without any key, with one audit row each, and no others', async () => {
  const { vault, db, createActor, auditOf } = open.current;
  const actor = await createActor();
  const [due, kept] = [(await createToken(vault, actor, card)).token, (await createToken(vault, actor, card)).token];
  await makeDue(due.id);
  const before = await rowOf(due.id);
  let removed = 0;
  for (let batch = -1; batch !== 0; removed += batch) batch = await removeDueCvcs(db, actor.tenantId);
  expect(removed).toBe(1);
  expect(await rowOf(due.id)).toEqual({ ...before, cvc_ciphertext: null, cvc_due_at: null });
  expect((await rowOf(kept.id)).cvc_ciphertext).not.toBeNull();
  expect(await auditOf(actor, 'update')).toEqual([{ entity_id: due.id, actor_id: null, trace_id: null, detail: null }]);
  expect((await findToken(vault, actor, due.id)).data).toEqual(lasting);
  expect(await removeDueCvcs(db, actor.tenantId)).toBe(0);
});

test('one that the worker has deleted is not shown from the cache of a process whose clock is behind', async () => {
  const { vault, db, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, card);
  const cvc_due_at = new Date(Date.now() + 300).toISOString();
  await db.updateTable('tokens').set({ cvc_due_at }).where('id', '=', token.id).execute();
  const behind = () => after(minutes(-10), () => findToken(vault, actor, token.id));
  expect(await behind()).toHaveProperty('data.cvc', cvc);
  await eventually('its removal', async () => (await removeDueCvcs(db, actor.tenantId)) === 1);
  expect((await behind()).data).toEqual(lasting);
});

test('several workers at once remove each once', async () => {
  const { vault, db, createActor, auditOf } = open.current;
  const actor = await createActor();
  const cards = Array.from({ length: 30 }, () => ({ type: 'card', data: card.data }));
  const tokens = (await tokenize(vault, actor, cards)) as { id: string }[];
  for (const { id } of tokens) await makeDue(id);
  await Promise.all([1, 2, 3, 4].map(() => db.transaction().execute((tx) => removeDueCvcs(tx, actor.tenantId))));
  expect(await auditOf(actor, 'update')).toHaveLength(30);
});

test('a cvc that is not a card’s is data like any other', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: { cvc } });
  expect(await after(minutes(600), () => findToken(vault, actor, token.id))).toHaveProperty('data.cvc', cvc);
});

test('no ciphertext of it opens as the data of the token, nor as that of another', async () => {
  const { vault, db, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, card);
  const { cvc_ciphertext } = await rowOf(token.id);
  if (!cvc_ciphertext) throw new Error('nothing is stored');
  await db.updateTable('tokens').set({ data_ciphertext: cvc_ciphertext }).where('id', '=', token.id).execute();
  const later = after(minutes(61), () => listTokens(vault, actor, { ids: [token.id] }, { page: 1, size: 1 }));
  await expect(later).rejects.toThrow('does not open');
});
