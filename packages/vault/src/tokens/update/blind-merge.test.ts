import { useStack } from '@sluice/testing';
import { type Actor, createToken, findToken, type Json, searchTokens, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A caller who does not see a token could remove all of it but one member, and guess that one. */
const open = useStack(openTestVault);

const data = { name: 'Ada', note: 'long secret', pin: '4821' };
const callers: [string, string[]][] = [
  ['may not read', ['token:create', 'token:update', 'token:search']],
  ['reads a mask', ['token:create', 'token:update', 'token:search', 'token:read']],
];

async function world(
  permissions: string[],
  settings: { deduplicate_tokens?: boolean; fingerprint_tokens?: boolean } = {},
) {
  const { vault, createActor, createTenant } = open.current;
  const owner = await createActor({ tenantId: await createTenant(settings) });
  return { vault, owner, blind: await createActor({ tenantId: owner.tenantId, permissions }) };
}

async function isEqual(actor: Actor, id: string, input: object): Promise<boolean> {
  const { created, token } = await createToken(open.current.vault, actor, { ...input, deduplicate_token: true });
  return !created && token.id === id;
}

async function isFound(actor: Actor, id: string, text: string): Promise<boolean> {
  const query = `id:${id} AND data:"${text}"`;
  return (await searchTokens(open.current.vault, actor, { query, page: 1, size: 1 })).total === 1;
}

const code = (run: Promise<unknown>) =>
  run.then(
    () => 'done',
    (error) => `${error.code} ${error.detail}`,
  );

describe.each(callers)('a caller who %s', (_, permissions) => {
  const list = [{ pin: '1' }];
  test.each<[string, object, Json]>([
    ['the data, of which the fingerprint is made by default', {}, { other: 'x' }],
    ['a member of a fingerprint', { fingerprint_expression: '{{ data.pin }}{{ data.note }}' }, { note: null }],
    ['something above it', { fingerprint_expression: '{{ data.group.pin }}' }, { group: null }],
    ['something below it', { fingerprint_expression: '{{ data.group }}' }, { group: { a: null } }],
    ['a list in which it stands', { fingerprint_expression: '{{ data.list[0].pin }}' }, { list: {} }],
    [
      'a search index',
      { fingerprint_expression: '{{ data.pin }}', search_indexes: ['{{ data.note }}'] },
      { note: 'x' },
    ],
    [
      'what a mask shows in part',
      { fingerprint_expression: '{{ data.pin }}', mask: '{{ data.note | last4 }}' },
      { note: 'x' },
    ],
  ])('cannot merge into %s', async (__, members, merge) => {
    const { vault, owner, blind } = await world(permissions);
    const whole = { ...data, group: { a: 'x', pin: '4821' }, list };
    const { token } = await createToken(vault, owner, { data: whole, ...members });
    expect(await code(updateToken(vault, blind, token.id, { data: merge }))).toMatch(
      /^forbidden data: (fingerprint_expression|search_indexes|mask) has \{\{ data/,
    );
    expect(await findToken(vault, owner, token.id)).toEqual(token);
    await updateToken(vault, owner, token.id, { data: merge });
  });

  test('merges beside them, and fingerprint and indexes stay', async () => {
    const { vault, owner, blind } = await world(permissions);
    const members = { fingerprint_expression: '{{ data.pin }}', search_indexes: ['{{ data.name }}{{ data.pin }}'] };
    const { token } = await createToken(vault, owner, { data, ...members });
    await updateToken(vault, blind, token.id, { data: { note: null, other: { pin: '4821' } } });
    await updateToken(vault, blind, token.id, { data: {} });
    const { fingerprint } = await findToken(vault, owner, token.id);
    expect(fingerprint).toBe(token.fingerprint);
    expect(await isFound(owner, token.id, 'Ada4821')).toBe(true);
    expect(await isEqual(owner, token.id, { data: { pin: '4821' }, ...members })).toBe(true);
  });

  test('changes the date and the cvc of a card, of which no fingerprint is made, also where tokens are deduplicated', async () => {
    const { vault, owner, blind } = await world(permissions, { deduplicate_tokens: true });
    const card = { type: 'card', data: { number: '4242424242424242' } };
    const { token } = await createToken(vault, owner, card);
    await updateToken(vault, blind, token.id, { data: { expiration_year: 2031, cvc: '987' } });
    expect(await isEqual(owner, token.id, card)).toBe(true);
    expect(await code(updateToken(vault, blind, token.id, { data: { number: '5555555555554444' } }))).toMatch(
      /^forbidden/,
    );
  });

  test('replaces all data, which makes fingerprint and indexes anew, except where tokens are deduplicated', async () => {
    const { vault, owner, blind } = await world(permissions);
    const { token } = await createToken(vault, owner, { data, search_indexes: ['{{ data }}'] });
    await updateToken(vault, blind, token.id, { data: 'text' });
    expect(await isEqual(owner, token.id, { data: 'text' })).toBe(true);
    expect(await isFound(owner, token.id, 'text')).toBe(true);
    for (const refused of [{ data: 'other', deduplicate_token: true }, { deduplicate_token: true }]) {
      expect(await code(updateToken(vault, blind, token.id, refused))).toMatch(/^forbidden deduplicate_token/);
    }
  });
});

describe('once such a caller has merged, an expression that comes later', () => {
  const rights = ['token:update', 'token:read'];
  const narrow = { fingerprint_expression: '{{ data.pin }}' };

  async function merged() {
    const { vault, owner, blind } = await world(rights);
    const { token } = await createToken(vault, owner, { data: { ...data, group: { a: 'x' } }, ...narrow });
    await updateToken(vault, blind, token.id, { data: { note: null, group: { a: null } } });
    return { vault, owner, id: token.id };
  }

  test.each<[object]>([
    [{ search_indexes: ['{{ data }}'] }],
    [{ search_indexes: ['{{ data.pin }}{{ data.note }}'] }],
    [{ search_indexes: ['{{ data.group }}'] }],
    [{ fingerprint_expression: null }],
    [{ mask: '{{ data | last4 }}' }],
    [{ mask: { deep: ['{{ data.pin | last4 }} {{ data.group | last4 }}'] } }],
  ])('is 409 where the rest could be guessed: %j', async (patch) => {
    const { vault, owner, id } = await merged();
    expect(await code(updateToken(vault, owner, id, patch))).toMatch(
      /^conflict (search_indexes|fingerprint_expression|mask): /,
    );
    await updateToken(vault, owner, id, { data: { seen: 'x' } });
    expect(await code(updateToken(vault, owner, id, patch))).toMatch(/^conflict/);
    await updateToken(vault, owner, id, { data: 'text' });
    expect(await code(updateToken(vault, owner, id, patch))).toBe('done');
  });

  test('is taken where it names one value that is no object', async () => {
    const { vault, owner, id } = await merged();
    await updateToken(vault, owner, id, { search_indexes: ['{{ data.name }}'], ...narrow });
    expect(await isFound(owner, id, 'Ada')).toBe(true);
    const mask = { ends: '{{ data.name | last4 }} {{ data.pin | last4 }}', group: '{{ data.group }}' };
    expect(await code(updateToken(vault, owner, id, { mask }))).toBe('done');
  });

  test('is no part of the value in a place of a mask that the merge has chosen', async () => {
    const { vault, owner, blind } = await world(rights);
    const { token } = await createToken(vault, owner, { data: { name: 'Ada Lovelace', pin: '4821' }, ...narrow });
    const mask = '{{ data | slice: 0, 22 }}';
    const show = async () => {
      const set = await code(updateToken(vault, owner, token.id, { mask }));
      return { set, shown: JSON.stringify((await findToken(vault, blind, token.id)).data) ?? '' };
    };
    expect(await show()).toMatchObject({ set: 'done', shown: expect.not.stringContaining('4821') });
    await updateToken(vault, owner, token.id, { mask: null });
    await updateToken(vault, blind, token.id, { data: { name: '' } });
    expect(await show()).toMatchObject({ set: expect.stringMatching(/^conflict mask/) });
    expect((await show()).shown).not.toContain('4821');
  });

  test('the control: without such a merge each is taken', async () => {
    const { vault, owner } = await world(rights);
    const { token } = await createToken(vault, owner, { data, ...narrow });
    await updateToken(vault, owner, token.id, { data: { note: null } });
    await updateToken(vault, owner, token.id, { search_indexes: ['{{ data }}'], fingerprint_expression: null });
    await updateToken(vault, owner, token.id, { mask: '{{ data | last4 }}' });
  });
});
