import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import { type Actor, createToken, type Json, revealForUse, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A caller who may change a token that it does not see merges padding into it and looks at which patches fail. */
const open = useStack(openTestVault);

const kibibyte = 1024;
const text = (bytes: number) => 'x'.repeat(bytes);
const hiddenSizes = [10, 1000 * kibibyte];

const padding: Json[] = [
  { data: { pad: text(20 * kibibyte) } },
  { data: { pad: text(30 * kibibyte) } },
  { data: { pad: text(500 * kibibyte), month: 13 } },
  { data: { more: text(474 * kibibyte) } },
  { data: { pad: null } },
  { metadata: { pad: text(900 * kibibyte) } },
  { metadata: { more: text(200 * kibibyte) } },
  { metadata: { a: 'b' } },
  { data: { number: 1e300 } },
];

const growing = {
  mask: { all: '{{ data }}', part: '{{ data.hidden }}{{ data.hidden }} ' },
  search_indexes: Array.from({ length: 10 }, (_, i) => `{{ data | last4 }}${i}`),
  fingerprint_expression: '{{ data.hidden }}/{{ data.pad }}',
};

async function outcomeOf(actor: Actor, id: string, patch: Json): Promise<Json> {
  try {
    const { token } = await updateToken(open.current.vault, actor, id, patch);
    return Object.keys(token);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, detail: error.detail, errors: (error.errors ?? null) as Json };
  }
}

async function played(grants: object, hidden: Json, members: object = {}): Promise<Json[]> {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, { ...members, ...(hidden as object) });
  const actor = await createActor({ tenantId: owner.tenantId, ...grants });
  const outcomes: Json[] = [];
  for (const patch of padding) outcomes.push(await outcomeOf(actor, token.id, patch));
  return outcomes;
}

const hiddenData = (bytes: number) => ({ data: { hidden: text(bytes) } });
/** The padding stands apart from what the fingerprint is made of; a merge into that is 403. */
const apart = { fingerprint_expression: '{{ data.hidden }}' };
const blind = { permissions: ['token:update'] };
const masked = { permissions: ['token:update', 'token:read'] };

describe('nobody finds the size of what it does not see by what still fits beside it', () => {
  test.each([
    ['data, by a caller who may not read', blind, hiddenData, apart],
    ['data, by a caller who reads nothing of it', masked, hiddenData, apart],
    [
      'data with an index of it, by such a caller',
      masked,
      hiddenData,
      { ...apart, search_indexes: ['{{ data.hidden }}'] },
    ],
    [
      'metadata, by a caller who may not read',
      blind,
      (bytes: number) => ({ data: { hidden: 1 }, metadata: { a: text(bytes) } }),
      apart,
    ],
  ])('%s', async (_, grants, hidden, members) => {
    const [first, ...others] = await Promise.all(hiddenSizes.map((bytes) => played(grants, hidden(bytes), members)));
    for (const other of others) expect(other).toEqual(first);
    const codes = (first ?? []).map((outcome) => (outcome as { code?: string }).code);
    expect(codes.filter((code) => code === 'payload_too_large').length).toBeGreaterThan(0);
    expect(codes.filter((code) => code === undefined).length).toBeGreaterThan(3);
  });

  test('nor by what a mask, a fingerprint or search indexes come to', async () => {
    const sizes = [10, 300 * kibibyte];
    const [first, ...others] = await Promise.all(sizes.map((bytes) => played(blind, hiddenData(bytes), growing)));
    for (const other of others) expect(other).toEqual(first);
  });

  test('the control: a caller who sees it is told by the merged size', async () => {
    const seeing = { rules: [{ transform: 'reveal' }] };
    const outcomes = await Promise.all(hiddenSizes.map((bytes) => played(seeing, hiddenData(bytes))));
    expect(outcomes[0]).not.toEqual(outcomes[1]);
    const [small, large] = await Promise.all(
      [10, 300 * kibibyte].map((size) => played(seeing, hiddenData(size), growing)),
    );
    expect(small).not.toEqual(large);
  });
});

test('what is stored has at most 1 MiB more than it had when it was last seen', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, { ...hiddenData(1000 * kibibyte), ...apart });
  const actor = await createActor({ tenantId: owner.tenantId, ...blind });
  const codes: Json[] = [];
  for (let i = 0; i < 8; i += 1) codes.push(await outcomeOf(actor, token.id, { data: { [i]: text(250 * kibibyte) } }));
  expect(codes.filter(Array.isArray)).toHaveLength(4);
  const [data] = (await revealForUse(vault, owner, [token.id])).values();
  expect(JSON.stringify(data).length).toBeLessThan(2 * kibibyte * kibibyte);
  expect(await outcomeOf(owner, token.id, { data: { a: 1 } })).toMatchObject({ code: 'payload_too_large' });
  expect(await outcomeOf(owner, token.id, { metadata: { a: 'b' } })).toContain('metadata');
  expect(await outcomeOf(owner, token.id, { data: { 0: null, 1: null, 2: null, 3: null } })).toContain('id');
  expect(await outcomeOf(actor, token.id, { data: { pad: text(250 * kibibyte) } })).toContain('id');
});

test('a text that is replaced again and again needs no room', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, { data: 'text' });
  const actor = await createActor({ tenantId: owner.tenantId, ...blind });
  for (let i = 0; i < 4; i += 1)
    expect(await outcomeOf(actor, token.id, { data: text(500 * kibibyte) })).toContain('id');
});
