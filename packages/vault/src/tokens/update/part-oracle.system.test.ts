import type { AccessRule } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import fc from 'fast-check';
import { type Actor, createToken, deleteToken, type Json, searchTokens, updateToken } from '../../index.ts';
import { mergePatch } from '../../merge-patch.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/**
 * A caller who does not see a token merges into it and then guesses a part, by creating and by searching; meanwhile its
 * owner writes what everybody can predict.
 */
const open = useStack(openTestVault);

const secret = 'canary';
const pins = ['1111', '2222'];
const dataWith = (pin: string) => ({ name: secret, note: secret, pin, group: { a: secret, pin } });

const anyValue = fc.constantFrom<Json>(null, null, null, 'x', {}, { a: null }, { b: 'x' });
const anyMerge = fc.record({ name: anyValue, note: anyValue, group: anyValue, other: anyValue }, { requiredKeys: [] });
const anyStep: fc.Arbitrary<object> = fc.oneof(
  { weight: 6, arbitrary: anyMerge.map((data) => ({ data })) },
  { weight: 1, arbitrary: fc.constantFrom({ data: 'x' }, { data: { pin: '1111' } }, { metadata: { a: 'b' } }) },
);
const ofOwner: readonly object[] = [
  ...[{ data: { other: 'seen' } }, { data: { group: { b: 'seen' } } }, { data: {} }, { data: { name: 'x' } }],
  ...[
    { search_indexes: ['{{ data }}', '{{ data.pin }}{{ data.note }}', '{{ data.group }}'] },
    { deduplicate_token: true },
  ],
  { fingerprint_expression: null },
];
/**
 * Nothing that the owner writes replaces what an expression of several members names: it would make its own fingerprint
 * predictable, whoever merged before.
 */
const anySteps = fc
  .tuple(
    anyMerge.filter((data) => Object.keys(data).length > 0).map((data) => ({ data })),
    fc.array(fc.oneof({ weight: 3, arbitrary: anyStep }, fc.constantFrom(...ofOwner)), { maxLength: 4 }),
  )
  .map(([first, others]) => [first, ...others]);
const anyMembers = fc.record({
  fingerprint_expression: fc.constantFrom(null, '{{ data.pin }}{{ data.note }}', '{{ data.other }}{{ data.group }}'),
  search_indexes: fc.subarray(
    [...['{{ data }}', '{{ data.pin }}{{ data.note }}', '{{ data.group }}', '{{ data.name }}', '{{ data.other }}']],
    { maxLength: 1 },
  ),
});

interface Attack {
  members: object;
  steps: readonly object[];
}

/** What is left if the caller has removed everything else. */
function guessesAfter(steps: readonly object[]): Json[] {
  const patches = steps.flatMap((step) => ('data' in step ? [step.data as Json] : []));
  const parts: Json[] = [{ pin: '1111' }, { group: { pin: '1111' } }, { pin: '1111', group: { pin: '1111' } }];
  return parts.map((part) => patches.reduce<Json>((left, patch) => mergePatch(left, patch), part));
}

async function isConfirmed(actor: Actor, id: string, input: object): Promise<boolean> {
  const { vault } = open.current;
  const { created, token } = await createToken(vault, actor, { ...input, deduplicate_token: true });
  if (created) await deleteToken(vault, actor, token.id);
  return token.id === id;
}

async function isFound(actor: Actor, id: string, value: Json): Promise<boolean> {
  const text = JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value));
  const search = { query: `id:${id} AND data:${text}`, page: 1, size: 1 };
  return (await searchTokens(open.current.vault, actor, search)).total > 0;
}

async function statusOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'done';
  } catch (error) {
    if (error instanceof ServiceError && ['forbidden', 'conflict'].includes(error.code)) return error.code;
    throw error;
  }
}

let blindPatches = 0;

async function confirmed(pin: string, rule: Partial<AccessRule>, { members, steps }: Attack): Promise<Json[]> {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const actor = await createActor({ tenantId: owner.tenantId, rules: [rule] });
  const { token } = await createToken(vault, owner, { id: 'hidden', ...members, data: dataWith(pin) });
  const outcomes: Json[] = [];
  const taken: object[] = [];
  for (const step of steps) {
    const writer = ofOwner.includes(step) ? owner : actor;
    const status = await statusOf(() => updateToken(vault, writer, token.id, step));
    outcomes.push(status);
    if (status === 'done') taken.push(step);
    if (status === 'done' && writer === actor) blindPatches += 1;
    const guesses = guessesAfter(taken);
    const expression = taken.findLast((each) => 'fingerprint_expression' in each);
    for (const data of guesses) outcomes.push(await isConfirmed(actor, token.id, { ...members, ...expression, data }));
    const groups = guesses.flatMap((guess) => (guess as { group?: Json }).group ?? []);
    for (const value of ['1111', ...guesses, ...groups]) outcomes.push(await isFound(actor, token.id, value));
  }
  return outcomes;
}

const played = (rule: Partial<AccessRule>, attack: Attack) =>
  Promise.all(pins.map((pin) => confirmed(pin, rule, attack)));

test('no merge lets a caller to whom data are masked guess a part of them', async () => {
  const property = fc.asyncProperty(anyMembers, anySteps, async (members, steps) => {
    const [right, wrong] = await played({ transform: 'mask' }, { members, steps });
    expect(right).toEqual(wrong);
  });
  await fc.assert(property, { numRuns: 80, endOnFailure: true });
  expect(blindPatches).toBeGreaterThan(8);
});

test('the control: a caller to whom they are revealed can, by creating and by searching', async () => {
  const attack = {
    members: { search_indexes: ['{{ data.pin }}{{ data.note }}'] },
    steps: [{ data: { name: null, note: null, group: null } }],
  };
  const [right, wrong] = await played({ transform: 'reveal' }, attack);
  const byCreating = right?.slice(1, 4);
  expect([byCreating?.includes(true), right?.slice(4).includes(true)]).toEqual([true, true]);
  expect(wrong).not.toContain(true);
});
