import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import { type Actor, createToken, type Json, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A caller who may change a token that it does not see looks at which patches still fit. */
const open = useStack(openTestVault);

const kibibyte = 1024;
const text = (bytes: number) => 'x'.repeat(bytes);
const number = '4242424242424242';
const blind = { permissions: ['token:update'] };
const masked = { permissions: ['token:update', 'token:read'] };
const seeing = { rules: [{ transform: 'reveal' }] };

const patches: Json[] = [
  { data: { expiration_month: 3, expiration_year: 2031, cvc: '987' } },
  { data: { expiration_month: 13 } },
  { metadata: { pad: text(900 * kibibyte) } },
  { metadata: { more: text(200 * kibibyte) } },
  { metadata: { a: 'b' } },
  { data: 'x' },
];

async function outcomeOf(actor: Actor, id: string, patch: Json): Promise<Json> {
  try {
    const { token } = await updateToken(open.current.vault, actor, id, patch);
    return Object.keys(token);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, detail: error.detail, errors: (error.errors ?? null) as Json };
  }
}

async function played(grants: object, members: object): Promise<Json[]> {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, members);
  const actor = await createActor({ tenantId: owner.tenantId, ...grants });
  const outcomes: Json[] = [];
  for (const patch of patches) outcomes.push(await outcomeOf(actor, token.id, patch));
  return outcomes;
}

const cardWith = (members: object) => (bytes: number) => ({
  ...{ type: 'card', data: { number, hidden: text(bytes) } },
  ...members,
});
const textWith = (bytes: number) => ({ data: 1, metadata: { a: text(bytes) } });
const nearLimit = kibibyte * kibibyte - 70;
const growing = {
  mask: { all: '{{ data }}', part: '{{ data.hidden }}{{ data.hidden }} ' },
  search_indexes: Array.from({ length: 10 }, (_, i) => `{{ data.hidden | last4 }}${i}`),
  fingerprint_expression: '{{ data.hidden }}/{{ data.number }}',
};

describe('nobody finds the size of what it does not see by what still fits beside it', () => {
  test.each<[string, object, (bytes: number) => object, number]>([
    ['data, by a caller who may not read', blind, cardWith({}), nearLimit],
    ['data, by a caller who reads nothing of it', masked, cardWith({}), nearLimit],
    ['what mask, fingerprint and search indexes come to', blind, cardWith(growing), 300 * kibibyte],
    ['metadata, by a caller who may not read', blind, textWith, 1000 * kibibyte],
  ])('%s', async (_, grants, input, bytes) => {
    const [small, large] = await Promise.all([10, bytes].map((size) => played(grants, input(size))));
    expect(large).toEqual(small);
  });

  test('the control: a caller who sees it is told by the merged size', async () => {
    const [small, large] = await Promise.all([10, nearLimit].map((size) => played(seeing, cardWith({})(size))));
    expect(small?.[0]).not.toEqual(large?.[0]);
  });
});

test('metadata has at most 1 MiB more than when it was last seen', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, textWith(1000 * kibibyte));
  const actor = await createActor({ tenantId: owner.tenantId, ...blind });
  const metadata = (i: number) => ({ metadata: { [i]: text(250 * kibibyte) } });
  const codes: Json[] = [];
  for (let i = 0; i < 8; i += 1) codes.push(await outcomeOf(actor, token.id, metadata(i)));
  expect(codes.filter(Array.isArray)).toHaveLength(4);
  expect(await outcomeOf(owner, token.id, { metadata: { b: 'x' } })).toMatchObject({ code: 'payload_too_large' });
  expect(await outcomeOf(owner, token.id, { metadata: { a: null, 0: null, 1: null } })).toContain('metadata');
  expect(await outcomeOf(actor, token.id, metadata(9))).toContain('id');
});

test('a text that is replaced again and again needs no room', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, { data: 'text' });
  const actor = await createActor({ tenantId: owner.tenantId, ...blind });
  for (let i = 0; i < 4; i += 1)
    expect(await outcomeOf(actor, token.id, { data: text(500 * kibibyte) })).toContain('id');
  expect(await outcomeOf(actor, token.id, { data: text(1100 * kibibyte) })).toMatchObject({
    code: 'payload_too_large',
  });
});
