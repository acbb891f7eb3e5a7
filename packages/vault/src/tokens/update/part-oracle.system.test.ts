import type { AccessRule } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import fc from 'fast-check';
import { createToken, deleteToken, type Json, searchTokens, updateToken } from '../../index.ts';
import { mergePatch } from '../../merge-patch.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/**
 * A caller who knows a token but for a pin and a long text removes what it can, and guesses the pin by creating and by
 * searching.
 */
const open = useStack(openTestVault);

const types = {
  card: { number: '4242424242424242', expiration_year: 2030 },
  bank: { routing_number: '021000021', account_number: '123456789' },
  token: { name: 'Ada' },
};
const pins = ['1111', '2222'];
const guess = '1111';
const note = 'canary';
const account = { routing_number: '011401533', account_number: '987654321' };

const anyData = fc.oneof(
  fc.constantFrom<Json>({ expiration_month: 3 }, { expiration_year: null, cvc: '987' }, { cvc: null }, account),
  fc.constantFrom<Json>({ expiration_year: 2031, note: null }, { ...account, note: null }, { note: null }, {}),
  fc.constantFrom<Json>('x', guess),
);
const anySteps = fc.array(anyData, { minLength: 1, maxLength: 4 });
const expressions = [
  ...['{{ data }}', '{{ data.pin }}{{ data.note }}', '{{ data.note }}{{ data.pin }}{{ data.cvc }}'],
  ...['{{ data.number }}', '{{ data.account_number }}', '{{ data.expiration_year }}'],
];
const anyMembers = fc.record({
  fingerprint_expression: fc.constantFrom(null, ...expressions),
  search_indexes: fc.subarray(expressions, { maxLength: 1 }),
});

interface Attack {
  type: keyof typeof types;
  members: object;
  steps: readonly Json[];
}

let changed = 0;

async function outcomesFor(pin: string, rule: Partial<AccessRule>, { type, members, steps }: Attack): Promise<Json[]> {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const actor = await createActor({ tenantId: owner.tenantId, rules: [rule] });
  const { token } = await createToken(vault, owner, { type, ...members, data: { ...types[type], pin, note } });
  const outcomes: Json[] = [];
  let guessed: Json = { ...types[type], pin: guess };
  for (const data of steps) {
    const status = await statusOf(() => updateToken(vault, actor, token.id, { data }));
    if (status === 'done') guessed = mergePatch(guessed, data);
    if (status === 'done' && rule.transform !== 'reveal') changed += 1;
    const equal = { type, ...members, data: guessed, deduplicate_token: true };
    const isEqual = await statusOf(async () => {
      const { created, token: found } = await createToken(vault, actor, equal);
      if (created) await deleteToken(vault, actor, found.id);
      if (found.id !== token.id) throw new ServiceError('conflict', 'Another token');
    });
    outcomes.push(status, isEqual);
    for (const text of [guess, JSON.stringify(guessed)]) {
      const query = `id:${token.id} AND data:${JSON.stringify(text)}`;
      outcomes.push((await searchTokens(vault, actor, { query, page: 1, size: 1 })).total);
    }
  }
  return outcomes;
}

async function statusOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'done';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

test('no change lets a caller to whom data are masked guess a part of them', async () => {
  const anyType = fc.constantFrom(...(Object.keys(types) as (keyof typeof types)[]));
  const property = fc.asyncProperty(anyType, anyMembers, anySteps, async (type, members, steps) => {
    const attack = { type, members, steps };
    const [right, wrong] = await Promise.all(pins.map((pin) => outcomesFor(pin, { transform: 'mask' }, attack)));
    expect(right).toEqual(wrong);
  });
  await fc.assert(property, { numRuns: 80, endOnFailure: true });
  expect(changed).toBeGreaterThan(8);
});

test('the control: a caller to whom they are revealed can, by creating and by searching', async () => {
  const attack = {
    type: 'token' as const,
    members: { search_indexes: ['{{ data.pin }}{{ data.note }}'] },
    steps: [{ note: null }],
  };
  const [right, wrong] = await Promise.all(pins.map((pin) => outcomesFor(pin, { transform: 'reveal' }, attack)));
  expect([right, wrong]).toEqual([
    ['done', 'done', 1, 0],
    ['done', 'conflict', 0, 0],
  ]);
});
