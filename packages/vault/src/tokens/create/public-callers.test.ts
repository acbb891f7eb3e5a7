import { useStack } from '@sluice/testing';
import { type Actor, createToken, type Json, tokenize } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import type { TokenTypeName } from '../../types/token-types.ts';

const open = useStack(openTestVault);

const shared: [TokenTypeName, Json][] = [
  ['card', { number: '4242424242424242' }],
  ['card_number', '4242424242424242'],
  ['bank', { routing_number: '021000021', account_number: '123456789' }],
];
const guessable: [TokenTypeName, Json][] = [
  ['token', '987'],
  ['token', { cvc: '987' }],
  ['social_security_number', '123-45-6789'],
  ['employer_id_number', '12-3456789'],
  ['us_bank_account_number', '123456789'],
  ['us_bank_routing_number', '021000021'],
];
const both = [...shared, ...guessable];

/** Whether each is answered with the token that another request made: by the Tenant's setting, or as the request asks. */
async function isAnsweredWith(
  type: NonNullable<Actor['type']>,
  settings: { deduplicate_tokens: boolean },
  more: object,
) {
  const { vault, createActor, createTenant } = open.current;
  const tenantId = await createTenant(settings);
  const owner = await createActor({ tenantId });
  const caller: Actor = { ...(await createActor({ tenantId, permissions: ['token:create'] })), type };
  const found: boolean[] = [];
  for (const [type, data] of both) {
    const input = { type, data } as const;
    const { token } = await createToken(vault, owner, { ...input, deduplicate_token: false });
    const again = await createToken(vault, caller, { ...input, ...more });
    const [nested] = (await tokenize(vault, caller, [{ ...input, ...more }])) as [{ id: string }];
    expect(nested.id === token.id).toBe(!again.created);
    found.push(again.token.id === token.id);
  }
  return found;
}

const none = both.map(() => false);
const cardsAndAccounts = both.map((one) => shared.includes(one));

describe.each(['public', 'session'] as const)('to the key of a %s caller, which anybody may have,', (type) => {
  test('only cards and accounts are answered with an equal token, where the Tenant wants it', async () => {
    expect(await isAnsweredWith(type, { deduplicate_tokens: true }, {})).toEqual(cardsAndAccounts);
    expect(await isAnsweredWith(type, { deduplicate_tokens: true }, { deduplicate_token: true })).toEqual(
      cardsAndAccounts,
    );
    expect(await isAnsweredWith(type, { deduplicate_tokens: true }, { deduplicate_token: false })).toEqual(none);
  });

  test('nothing is answered with an equal token because the request asks', async () => {
    expect(await isAnsweredWith(type, { deduplicate_tokens: false }, { deduplicate_token: true })).toEqual(none);
  });
});

test('any other caller is answered with it, also with a token that a public caller made', async () => {
  const all = both.map(() => true);
  expect(await isAnsweredWith('private', { deduplicate_tokens: true }, {})).toEqual(all);
  expect(await isAnsweredWith('user', { deduplicate_tokens: false }, { deduplicate_token: true })).toEqual(all);

  const { vault, createActor, createTenant, db } = open.current;
  const tenantId = await createTenant({ deduplicate_tokens: true, fingerprint_tokens: false });
  const owner = await createActor({ tenantId });
  const page: Actor = { ...(await createActor({ tenantId })), type: 'public' };
  const made = [];
  for (let i = 0; i < 2; i++) made.push((await createToken(vault, page, { data: 'equal' })).token.id);
  expect(new Set(made).size).toBe(2);
  expect((await createToken(vault, owner, { data: 'equal' })).token.id).toBe(made[0]);
  expect(await db.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId).execute()).toHaveLength(2);
});
