import { useStack } from '@sluice/testing';
import { createToken, findToken, type Json, tokenize, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import { type TokenTypeName, tokenTypeNames, tokenTypeOf } from '../../types/token-types.ts';

/** A caller who only creates tokens chooses an expression whose result is another value's default fingerprint. */
const open = useStack(openTestVault);

const attacks: [string, { type: TokenTypeName; data: Json }, { data: Json; fingerprint_expression: string }][] = [
  [
    'a card',
    { type: 'card', data: { number: '4242424242424242' } },
    { data: { number: '5555555555554444', x: '4242424242424242' }, fingerprint_expression: '{{ data.x }}' },
  ],
  [
    'an account',
    { type: 'bank', data: { routing_number: '011401533', account_number: '123456789' } },
    {
      data: { routing_number: '021000021', account_number: '999999999', x: '123456789/011401533' },
      fingerprint_expression: '{{ data.x }}',
    },
  ],
  [
    'a document',
    { type: 'token', data: { b: 1, a: 'payee' } },
    { data: { x: '{"a":"payee","b":1}' }, fingerprint_expression: '{{ data.x }}' },
  ],
];

describe.each(attacks)('a token whose own expression yields the default fingerprint of %s', (_, honest, attack) => {
  const forged = { type: honest.type, ...attack, deduplicate_token: false };

  async function world() {
    const { vault, createActor, createTenant } = open.current;
    const tenantId = await createTenant({ deduplicate_tokens: true });
    return {
      vault,
      owner: await createActor({ tenantId }),
      attacker: await createActor({ tenantId, permissions: ['token:create'] }),
    };
  }

  test('is not what a creation of that answers with', async () => {
    const { vault, owner, attacker } = await world();
    await createToken(vault, attacker, forged);
    const { created, token } = await createToken(vault, owner, honest);
    expect([created, token.data]).toEqual([true, honest.data]);
    expect((await findToken(vault, owner, token.id)).data).toEqual(honest.data);
    expect(await createToken(vault, owner, honest)).toMatchObject({ created: false, token: { id: token.id } });
  });

  test('nor if both are created by one request', async () => {
    const { vault, owner } = await world();
    const answer = await tokenize(vault, owner, [{ ...forged, deduplicate_token: true }, honest, honest]);
    const [first, second, third] = answer as { id: string; data: Json }[];
    expect(second).toMatchObject({ data: honest.data, id: third?.id });
    expect(second?.id).not.toBe(first?.id);
  });

  test('refuses no patch to that', async () => {
    const { vault, owner, attacker } = await world();
    await createToken(vault, attacker, forged);
    const { token } = await createToken(vault, owner, { ...honest, fingerprint_expression: '{{ data }}!' });
    await updateToken(vault, owner, token.id, { fingerprint_expression: null });
  });
});

const samples: Partial<Record<TokenTypeName, Json>> = {
  card: { number: '4242424242424242' },
  bank: { routing_number: '011401533', account_number: '123456789' },
  card_number: '4242424242424242',
  us_bank_account_number: '123456789',
  us_bank_routing_number: '011401533',
};

describe('tokens are equal', () => {
  test.each(Object.entries(samples))(
    'whether a %s names the default expression of its type or none',
    async (type, data) => {
      const { vault, createActor } = open.current;
      const expression = tokenTypeOf(type as TokenTypeName).fingerprintExpression;
      const named = { type, data, fingerprint_expression: expression, deduplicate_token: true };
      const unnamed = { type, data, deduplicate_token: true };
      for (const [first, second] of [
        [named, unnamed],
        [unnamed, named],
      ]) {
        const actor = await createActor();
        const { token } = await createToken(vault, actor, first);
        expect(await createToken(vault, actor, second)).toMatchObject({ created: false, token: { id: token.id } });
      }
    },
  );

  test('of those named here, every type that has such an expression', () => {
    const named = tokenTypeNames.filter((name) => tokenTypeOf(name).fingerprintExpression !== undefined);
    expect(named.toSorted()).toEqual(Object.keys(samples).toSorted());
  });

  test('by an expression that both have, and not by two that come to the same', async () => {
    const { vault, createActor } = open.current;
    const actor = await createActor();
    const by = (fingerprint_expression: string) => ({
      ...{ data: { k: 1, l: 1 }, fingerprint_expression, deduplicate_token: true },
    });
    const { token } = await createToken(vault, actor, by('{{ data.k }}'));
    expect(await createToken(vault, actor, by('{{ data.k }}'))).toMatchObject({
      created: false,
      token: { id: token.id },
    });
    const other = await createToken(vault, actor, by('{{ data.l }}'));
    expect(other).toMatchObject({ created: true, token: { fingerprint: token.fingerprint } });
  });

  test('once a patch gives one the expression of the other, which is a conflict', async () => {
    const { vault, createActor, createTenant } = open.current;
    const actor = await createActor({ tenantId: await createTenant({ deduplicate_tokens: true }) });
    await createToken(vault, actor, { data: { k: 1, l: 1 }, fingerprint_expression: '{{ data.k }}' });
    const { token } = await createToken(vault, actor, { data: { k: 1, l: 1 }, fingerprint_expression: '{{ data.l }}' });
    const patched = updateToken(vault, actor, token.id, { fingerprint_expression: '{{ data.k }}' });
    await expect(patched).rejects.toMatchObject({ code: 'conflict' });
  });
});
