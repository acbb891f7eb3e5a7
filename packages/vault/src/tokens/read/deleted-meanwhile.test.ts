import { untilLockIsAwaited, useStack } from '@sluice/testing';
import { type Actor, createToken, detokenize, findToken, listTokens, revealForUse, searchTokens } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A reading waits for a deletion that has begun, because it notes the month of the token. */
const open = useStack(openTestVault);
const page = { page: 1, size: 1 };
const data = 'the value';

const readings: [string, (actor: Actor, id: string) => Promise<unknown>][] = [
  ['findToken', (actor, id) => findToken(open.current.vault, actor, id)],
  ['listTokens', (actor, id) => listTokens(open.current.vault, actor, { ids: [id] }, page)],
  ['searchTokens', (actor, id) => searchTokens(open.current.vault, actor, { query: `id:"${id}"`, ...page })],
  ['detokenize', (actor, id) => detokenize(open.current.vault, actor, `{{ ${id} }}`)],
  ['revealForUse', async (actor, id) => [...(await revealForUse(open.current.vault, actor, [id]))]],
];

async function read(reading: (typeof readings)[number][1], end: 'delete' | 'keep'): Promise<string> {
  const { vault, db, disclosures, createActor } = open.current;
  const actor = await createActor();
  const { tenantId } = actor;
  const { token } = await createToken(vault, actor, { data });
  const { id } = token;
  await db.updateTable('tokens').set({ active_month: '2020-01-01' }).where('tenant_id', '=', tenantId).execute();
  disclosures.length = 0;
  const { outcome } = await db.transaction().execute(async (tx) => {
    const held = tx.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId).where('id', '=', id);
    await held.forUpdate().execute();
    const outcome = reading(actor, id).catch((error: unknown) => String(error));
    await untilLockIsAwaited(db);
    if (end === 'delete') await tx.deleteFrom('tokens').where('tenant_id', '=', tenantId).execute();
    return { outcome };
  });
  const shown = await outcome;
  const months = await db.selectFrom('tokens').select('active_month').where('id', '=', id).execute();
  return JSON.stringify([shown, disclosures, months]);
}

describe.each(readings)('%s', (_, reading) => {
  test('shows and notes no value of a token that was deleted while it waited', async () => {
    const shown = await read(reading, 'delete');
    expect(shown).not.toContain(data);
    expect(shown).not.toContain('token_ids');
  });

  test('shows the value, and counts the token as active, where the transaction for which it waited changed nothing', async () => {
    const shown = await read(reading, 'keep');
    expect(shown).toContain(data);
    expect(shown).not.toContain('2020-01-01');
  });
});

test('a token that another use has noted meanwhile is shown', async () => {
  const { vault, db, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data });
  await db.updateTable('tokens').set({ active_month: '2020-01-01' }).where('id', '=', token.id).execute();
  const { found } = await db.transaction().execute(async (tx) => {
    await tx.updateTable('tokens').set({ active_month: '2999-01-01' }).where('id', '=', token.id).execute();
    const found = findToken(vault, actor, token.id);
    await untilLockIsAwaited(db);
    return { found };
  });
  expect(await found).toMatchObject({ data });
});
