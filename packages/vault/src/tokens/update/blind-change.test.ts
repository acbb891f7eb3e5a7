import { useStack } from '@sluice/testing';
import { type Actor, createToken, findToken, type Json, revealForUse, searchTokens, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A caller who does not see a token could replace all of its data but one member, and then guess that member. */
const open = useStack(openTestVault);

const number = '4242424242424242';
const card = { type: 'card', data: { number, expiration_year: 2030, note: 'hidden' } };
const bank = { type: 'bank', data: { routing_number: '021000021', account_number: '123456789', holder: 'hidden' } };
const account = { routing_number: '011401533', account_number: '987654321' };

const callers: [string, object][] = [
  ['may not read', { permissions: ['token:create', 'token:update', 'token:search'] }],
  ['reads a mask', { permissions: ['token:create', 'token:update', 'token:search', 'token:read'] }],
  ['reads without data', { rules: [{ transform: 'redact' }] }],
];

async function world(grants: object, settings: { deduplicate_tokens?: boolean } = {}) {
  const { vault, createActor, createTenant } = open.current;
  const owner = await createActor({ tenantId: await createTenant(settings) });
  return { vault, owner, blind: await createActor({ tenantId: owner.tenantId, ...grants }) };
}

const code = (run: Promise<unknown>) =>
  run.then(
    () => 'done',
    (error) => `${error.code} ${error.detail} ${Object.keys(error.errors ?? {})}`,
  );

async function isEqual(actor: Actor, id: string, input: object): Promise<boolean> {
  const { created, token } = await createToken(open.current.vault, actor, { ...input, deduplicate_token: true });
  return !created && token.id === id;
}

async function isFound(actor: Actor, id: string, text: string): Promise<boolean> {
  const query = `id:${id} AND data:"${text}"`;
  return (await searchTokens(open.current.vault, actor, { query, page: 1, size: 1 })).total === 1;
}

async function dataOf(actor: Actor, id: string): Promise<Json | undefined> {
  return (await revealForUse(open.current.vault, actor, [id])).get(id);
}

describe.each(callers)('a caller who %s', (_, grants) => {
  test('changes date and cvc of a card, also where tokens are deduplicated; fingerprint and indexes stay', async () => {
    const { vault, owner, blind } = await world(grants, { deduplicate_tokens: true });
    const { token } = await createToken(vault, owner, { ...card, search_indexes: ['{{ data.number }}'] });
    await updateToken(vault, blind, token.id, { data: { expiration_month: 3, expiration_year: '2031', cvc: '987' } });
    await updateToken(vault, blind, token.id, { data: { expiration_year: null } });
    await updateToken(vault, blind, token.id, { data: {} });
    expect(await dataOf(owner, token.id)).toEqual({ number, note: 'hidden', expiration_month: 3, cvc: '987' });
    expect(await isEqual(owner, token.id, card)).toBe(true);
    expect(await isFound(owner, token.id, number)).toBe(true);
  });

  test('changes both numbers of a bank account, of which fingerprint and indexes are made anew', async () => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, { ...bank, search_indexes: ['{{ data.account_number }}'] });
    await updateToken(vault, blind, token.id, { data: account });
    expect(await dataOf(owner, token.id)).toEqual({ ...account, holder: 'hidden' });
    expect(await isEqual(owner, token.id, { type: 'bank', data: account })).toBe(true);
    expect(await isFound(owner, token.id, account.account_number)).toBe(true);
  });

  test('replaces data of any type by what is no object, of which fingerprint and indexes are made anew', async () => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, { data: { pin: '4821' }, search_indexes: ['{{ data }}'] });
    for (const data of [['a'], 1, true, 'text']) await updateToken(vault, blind, token.id, { data });
    expect(await isEqual(owner, token.id, { data: 'text' })).toBe(true);
    expect(await isFound(owner, token.id, 'text')).toBe(true);
  });

  test.each<[string, object, Json, string]>([
    ['another member of a card', card, { number: '5555555555554444' }, 'data.number'],
    ['one that the card does not have', card, { expiration_year: 2031, other: 'x' }, 'data.other'],
    ['one of the two numbers of an account', bank, { account_number: '987654321' }, 'data.account_number'],
    ['another member of an account', bank, { ...account, holder: 'x' }, 'data.holder'],
    ['nothing of an account', bank, {}, 'data'],
    ['a member of a token', { data: { pin: '4821' } }, { 'a b': 'x' }, "data['a b']"],
    ['an object for a text', { data: 'text' }, { pin: '4821' }, 'data.pin'],
    ['nothing of a text', { data: 'text' }, {}, 'data'],
    ['an object for a card number', { type: 'card_number', data: number }, { number }, 'data.number'],
  ])('is refused %s, by a name and whatever the data', async (__, input, data, member) => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, input);
    const refused = await code(updateToken(vault, blind, token.id, { data }));
    expect(refused.startsWith(`forbidden ${member}: `)).toBe(true);
    expect(await findToken(vault, owner, token.id)).toEqual(token);
  });

  test.each<[string, object, object]>([
    ['the fingerprint', card, { fingerprint_expression: '{{ data.number }}{{ data.expiration_year }}' }],
    ['a search index', card, { search_indexes: ['{{ data.note }}', '{{ data.expiration_year }}'] }],
    ['a search index of all data', card, { search_indexes: ['{{ data }}'] }],
    ['a filter of the mask', card, { mask: { a: [{ b: 'year {{ data.expiration_year | last4 }}' }] } }],
    ['a filter of the mask over all data', card, { mask: '{{ data | stringify | reveal_last: 6 }}' }],
    ['the fingerprint of an account and more', bank, { fingerprint_expression: '{{ data }}' }],
    ['a search index of an account and more', bank, { search_indexes: ['{{ data.holder }}'] }],
    ['a filter of the mask over more than the account', bank, { mask: '{{ data.holder | last4 }}' }],
  ])('is refused what %s is made of', async (__, input, members) => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, { ...input, ...members });
    const data = input === card ? { expiration_month: 3, expiration_year: 2031 } : account;
    const [member] = Object.keys(members);
    const refused = await code(updateToken(vault, blind, token.id, { data }));
    expect(refused).toMatch(new RegExp(`^forbidden data\\.\\w+: .*${member}`));
    expect(refused).not.toContain('{{');
    expect(await findToken(vault, owner, token.id)).toEqual(token);
    await updateToken(vault, owner, token.id, { data });
  });

  test('changes what stands in the mask without a filter', async () => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, { ...card, mask: '{{ data }} {{ data.number | last4 }}' });
    await updateToken(vault, blind, token.id, { data: { expiration_year: 2031 } });
    const { token: other } = await createToken(vault, owner, { ...bank, mask: '{{ data }}' });
    await updateToken(vault, blind, other.id, { data: account });
  });

  test('is refused a replacement where tokens are deduplicated, by setting or by the patch', async () => {
    const { vault, owner, blind } = await world(grants, { deduplicate_tokens: true });
    for (const [input, data] of [
      [bank, account],
      [{ data: { pin: '4821' } }, 'text'],
    ] as const) {
      const { token } = await createToken(vault, owner, input);
      expect(await code(updateToken(vault, blind, token.id, { data }))).toMatch(/^forbidden data: /);
      await updateToken(vault, blind, token.id, { data, deduplicate_token: false });
    }
  });

  test.each<[string, object, Json, string]>([
    ['a month', card, { expiration_month: 13 }, 'data.expiration_month'],
    ['a security code', card, { cvc: 987 }, 'data.cvc'],
    ['a number that JSON loses', card, { expiration_year: 1e300 }, 'data'],
    ['an account', bank, { ...account, routing_number: '1' }, 'data.routing_number'],
    ['an account that is removed', bank, { routing_number: null, account_number: null }, 'data.account_number'],
    ['a card that is no object', card, 'text', 'data'],
  ])('is told that %s is wrong, as the type says', async (__, input, data, member) => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, input);
    expect(await code(updateToken(vault, blind, token.id, { data }))).toMatch(
      new RegExp(`^validation_failed .*${member}`),
    );
  });

  test('meets no rule of the rest of the data, which a version before may have taken', async () => {
    const { vault, owner, blind } = await world(grants);
    const { token } = await createToken(vault, owner, { data: { expiration_year: 'never', note: 'x'.repeat(1000) } });
    await open.current.db.updateTable('tokens').set({ type: 'card' }).where('id', '=', token.id).execute();
    await updateToken(vault, blind, token.id, { data: { expiration_month: 3 } });
    await updateToken(vault, blind, token.id, { metadata: { a: 'b' } });
    expect(await code(updateToken(vault, owner, token.id, { data: { expiration_month: 4 } }))).toMatch(
      /^validation_failed .*data.number/,
    );
  });
});

test('the column that the version before reads becomes 0', async () => {
  const { vault, owner } = await world({});
  const { token } = await createToken(vault, owner, card);
  const { db } = open.current;
  await db.updateTable('tokens').set({ blind_data_bytes: 1 }).where('id', '=', token.id).execute();
  await updateToken(vault, owner, token.id, { search_indexes: ['{{ data }}'] });
  const row = await db.selectFrom('tokens').select('blind_data_bytes').where('id', '=', token.id).executeTakeFirst();
  expect(row?.blind_data_bytes).toBe(0);
});
