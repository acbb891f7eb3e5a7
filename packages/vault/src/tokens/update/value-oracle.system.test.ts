import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import { type Actor, createToken, detokenize, findToken, type Json, listTokens, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** Whether there is an answer, and its members, may not depend on hidden data; what a mask shows is for its author. */
const open = useStack(openTestVault);

const texts: Json[] = [
  '4242424242424242',
  '5555555555554444',
  'abc',
  '',
  'x'.repeat(1000),
  42,
  true,
  ['4'],
  { a: '4' },
];
const cards: Json[] = ['4242424242424242', '5555555555554444'].flatMap((number) => [
  { number, expiration_month: 1, expiration_year: 2030 },
  { number, cvc: '123' },
]);
const accounts: Json[] = ['1', '12345678901234567', '000123456789'].map((account_number) => ({
  routing_number: '021000021',
  account_number,
}));

const failing = "{{ data | to_number }}{{ data | json: '$.a' | last4 | to_boolean }}{{ data.number | slice: 0, 1 }}";
const tokens: Record<string, { values: readonly Json[]; members: object }> = {
  texts: { values: texts, members: { type: 'token' } },
  'texts with all that is made of them': {
    values: texts,
    members: { type: 'token', mask: [failing], search_indexes: [failing], fingerprint_expression: failing },
  },
  cards: { values: cards, members: { type: 'card' } },
  'cards with a mask that fails': { values: cards, members: { type: 'card', mask: { all: failing } } },
  accounts: { values: accounts, members: { type: 'bank' } },
};

const patches: Json[] = [
  { data: { a: '1' } },
  { data: { a: null } },
  { data: { number: '4242424242424241' } },
  { data: { number: '4242424242424242' } },
  { data: { expiration_month: 13 } },
  { data: { expiration_year: 2031 } },
  { data: { cvc: null } },
  { data: { routing_number: null } },
  { data: { account_number: '1' } },
  { data: [] },
  { data: 'abc' },
  { mask: '{{ data | to_number }}' },
  { search_indexes: ['{{ data | to_number }}'] },
  { fingerprint_expression: '{{ data | to_number }}' },
  { deduplicate_token: true },
  { deduplicate_token: false },
  { metadata: { a: 'b' } },
];

const filters = ['', ' | to_number', ' | to_boolean', ' | last4', " | json: '$.number'", ' | slice: 0, 1 | to_number'];

async function outcomeOf(run: () => Promise<object | Json>): Promise<Json> {
  try {
    const answer = await run();
    return typeof answer === 'object' && answer !== null && 'id' in answer ? Object.keys(answer) : 'an answer';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, detail: error.detail, errors: (error.errors ?? null) as Json };
  }
}

async function played(actor: Actor, id: string): Promise<string> {
  const { vault } = open.current;
  const reads = async () => [
    await outcomeOf(() => findToken(vault, actor, id)),
    await outcomeOf(
      async () => (await listTokens(vault, actor, { ids: [id] }, { page: 1, size: 1 })).tokens[0] ?? null,
    ),
  ];
  const outcomes = await reads();
  for (const filter of filters) {
    for (const reading of ['read', 'use'] as const)
      outcomes.push(await outcomeOf(() => detokenize(vault, actor, [`a {{ ${id}${filter} }}`], reading)));
  }
  for (const patch of patches) {
    outcomes.push(await outcomeOf(async () => (await updateToken(vault, actor, id, patch)).token), ...(await reads()));
  }
  return JSON.stringify(outcomes).replaceAll(id, '<id>');
}

const callers = {
  'who may only change it': { permissions: ['token:update'] },
  'who reads a mask': { permissions: ['token:update', 'token:read'] },
  'who uses it, and reads nothing': { permissions: ['token:update', 'token:use'] },
  'to whom it is redacted': { rules: [{ transform: 'redact' as const }] },
};

interface Played {
  tenant?: { deduplicate_tokens?: boolean };
  grants: { permissions?: string[]; rules?: { transform: 'redact' | 'reveal' }[] };
}

async function differing(name: string, { tenant = {}, grants }: Played): Promise<number> {
  const { vault, createActor, createTenant } = open.current;
  const { values, members } = tokens[name] ?? { values: [], members: {} };
  const seen = new Set<string>();
  for (const data of values) {
    const owner = await createActor({ tenantId: await createTenant(tenant), rules: [{ transform: 'reveal' }] });
    const actor = await createActor({ tenantId: owner.tenantId, ...grants });
    const { token } = await createToken(vault, owner, { ...members, data });
    seen.add(await played(actor, token.id));
  }
  return seen.size;
}

describe.each(Object.entries(callers))('a caller %s is answered alike for every value', (_, grants) => {
  test.each(Object.keys(tokens))('%s', async (name) => {
    expect(await differing(name, { grants })).toBe(1);
    expect(await differing(name, { grants, tenant: { deduplicate_tokens: true } })).toBe(1);
  });
});

test('the control: a caller to whom it is revealed is told of faults of the whole value, and the comparison finds them', async () => {
  const grants = { rules: [{ transform: 'reveal' as const }] };
  const { vault, createActor } = open.current;
  const actor = await createActor(grants);
  const told = async (data: Json) => {
    const { token } = await createToken(vault, actor, { data });
    return outcomeOf(
      async () => (await updateToken(vault, actor, token.id, { data: { pad: 'x'.repeat(600_000) } })).token,
    );
  };
  expect(await told({ a: 'x'.repeat(500_000) })).not.toEqual(await told({ a: 'x' }));
});
