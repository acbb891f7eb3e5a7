import { useStack } from '@sluice/testing';
import { type Actor, createToken, deleteToken, findToken, type Json, searchTokens, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A caller who does not see a token removes all of it but one member, and guesses that one. */
const open = useStack(openTestVault);

const data = { name: 'Ada', note: 'long secret', pin: '4821' };
const remove = { data: { name: null, note: null } };
const callers: [string, string[]][] = [
  ['may not read', ['token:create', 'token:update', 'token:search']],
  ['reads a mask', ['token:create', 'token:update', 'token:search', 'token:read']],
];

async function world(
  permissions: string[],
  settings: { deduplicate_tokens?: boolean; fingerprint_tokens?: boolean } = {},
) {
  const { vault, newActor, newTenant } = open.current;
  const owner = await newActor({ tenantId: await newTenant(settings) });
  return { vault, owner, blind: await newActor({ tenantId: owner.tenantId, permissions }) };
}

async function isEqual(actor: Actor, id: string, input: object): Promise<boolean> {
  const { created, token } = await createToken(open.current.vault, actor, { ...input, deduplicate_token: true });
  return !created && token.id === id;
}

async function isFound(actor: Actor, id: string, text: string): Promise<boolean> {
  const query = `id:${id} AND data:"${text}"`;
  return (await searchTokens(open.current.vault, actor, { query, page: 1, size: 1 })).total === 1;
}

const quoted = (value: unknown) => JSON.stringify(value).replaceAll('"', '\\"');

describe.each(callers)('a caller who %s, and removes the rest of the data', (_, permissions) => {
  test.each([
    ['with default settings', {}, remove],
    ['where the Tenant deduplicates', { deduplicate_tokens: true }, { ...remove, deduplicate_token: false }],
  ])('cannot guess what is left by creating it, %s', async (__, settings, patch) => {
    const { vault, owner, blind } = await world(permissions, settings);
    const { token } = await createToken(vault, owner, { data });
    expect((await updateToken(vault, blind, token.id, patch)).token).not.toHaveProperty('fingerprint');
    expect(await isEqual(blind, token.id, { data: { pin: '4821' } })).toBe(false);
    await updateToken(vault, blind, token.id, { metadata: { a: 'b' } });
    expect((await findToken(vault, owner, token.id)).fingerprint).toBeUndefined();
  });

  test('nor by an expression of which it changes a part', async () => {
    const { vault, owner, blind } = await world(permissions);
    const expression = { fingerprint_expression: '{{ data.name }}{{ data.pin }}' };
    const { token } = await createToken(vault, owner, { data, ...expression });
    for (const patch of [{ data: { name: 'x' } }, { data: { other: 'x' } }, { metadata: { a: 'b' } }]) {
      await updateToken(vault, blind, token.id, patch);
      expect(await isEqual(blind, token.id, { data: { name: 'x', pin: '4821' }, ...expression })).toBe(false);
    }
  });

  test('nor by comparing fingerprints of an expression that is too much work, which are of all data', async () => {
    const { vault, owner, blind } = await world(permissions);
    const patch = { data: { note: null, name: 'x'.repeat(60_000) } };
    const fingerprints = new Set<string | undefined>();
    for (const pin of ['4821', '0000']) {
      const members = { data: { ...data, pin }, fingerprint_expression: '{{ data.name }}'.repeat(20) };
      const { token } = await createToken(vault, owner, members);
      for (const [actor, change] of [
        [blind, patch],
        [owner, { deduplicate_token: true }],
      ] as const) {
        await updateToken(vault, actor, token.id, change);
        fingerprints.add((await findToken(vault, owner, token.id)).fingerprint);
      }
      await deleteToken(vault, owner, token.id);
    }
    expect([...fingerprints]).toEqual([expect.any(String)]);
  });

  test('cannot search for what is left, whatever it changes afterwards', async () => {
    const { vault, owner, blind } = await world(permissions);
    const search_indexes = ['{{ data.name }}{{ data.pin }}', '{{ data }}', '{{ data.group }}', '{{ data.first }}'];
    const { token } = await createToken(vault, owner, {
      data: { ...data, group: { a: 'x', pin: '4821' } },
      search_indexes,
    });
    const reader = await open.current.newActor({ tenantId: owner.tenantId });
    const steps = [
      { data: { name: null, note: null, group: { a: null } } },
      { data: { first: '4821' } },
      { data: { first: 'other' } },
      { metadata: { a: 'b' } },
    ];
    for (const patch of steps) {
      await updateToken(vault, blind, token.id, patch);
      const isSent = 'data' in patch && patch.data.first === '4821';
      expect(await isFound(reader, token.id, '4821')).toBe(isSent);
      expect(await isFound(reader, token.id, '{\\"pin\\":\\"4821\\"}')).toBe(false);
    }
  });
});

describe('what such a caller has sent, and what it left alone', () => {
  const blindRights = ['token:create', 'token:update'];

  test.each<[string, { type: string; data: Json }, Json]>([
    ['the number of a card', { type: 'card', data: { number: '5555555555554444' } }, { number: '4242424242424242' }],
    [
      'an account',
      { type: 'bank', data: { routing_number: '021000021', account_number: '1' } },
      { routing_number: '011401533', account_number: '2' },
    ],
    ['a text', { type: 'token', data }, 'text'],
  ])('%s is fingerprinted', async (_, { type, data: before }, sent) => {
    const { vault, owner, blind } = await world(blindRights);
    const { token } = await createToken(vault, owner, { type, data: before });
    await updateToken(vault, blind, token.id, { data: sent });
    expect(await isEqual(owner, token.id, { type, data: sent })).toBe(true);
  });

  test('a fingerprint stays if its members do', async () => {
    const { vault, owner, blind } = await world(blindRights);
    const inputs = [
      { type: 'card', data: { number: '4242424242424242' } },
      { data, fingerprint_expression: '{{ data.name }}{{ data.pin }}' },
    ];
    for (const input of inputs) {
      const { token } = await createToken(vault, owner, input);
      await updateToken(vault, blind, token.id, { data: { other: 'x' } });
      expect(await isEqual(owner, token.id, input)).toBe(true);
    }
  });

  test('search indexes of one member each find the token by it', async () => {
    const { vault, owner, blind } = await world(blindRights);
    const search_indexes = ['{{ data.name }}', '{{ data.note | upcase }}', '{{ data.name }}{{ data.pin }}'];
    const { token } = await createToken(vault, owner, { data, search_indexes });
    await updateToken(vault, blind, token.id, { data: { other: 'x' } });
    expect(await isFound(owner, token.id, 'Ada4821')).toBe(true);
    await updateToken(vault, blind, token.id, { data: { name: 'Eve' } });
    const texts = ['Eve', 'LONG SECRET', 'Ada', 'Eve4821', 'Ada4821'];
    expect(await Promise.all(texts.map((text) => isFound(owner, token.id, text)))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('a cvc that it sent is in no index', async () => {
    const { vault, owner, blind } = await world(blindRights);
    const search_indexes = ['{{ data.cvc }}'];
    const card = { type: 'card', data: { number: '4242424242424242' }, search_indexes };
    const { token } = await createToken(vault, owner, card);
    await updateToken(vault, blind, token.id, { data: { cvc: '987' } });
    expect(await isFound(owner, token.id, '987')).toBe(false);
  });

  test('a merge without members leaves them as they are', async () => {
    const { vault, owner, blind } = await world(blindRights);
    const { token } = await createToken(vault, owner, { data, search_indexes: ['{{ data }}'] });
    await updateToken(vault, blind, token.id, { data: {} });
    expect(await isEqual(owner, token.id, { data })).toBe(true);
    expect(await isFound(owner, token.id, quoted(data))).toBe(true);
    await updateToken(vault, owner, token.id, { data: { note: null } });
    expect(await isEqual(owner, token.id, { data: { name: 'Ada', pin: '4821' } })).toBe(true);
  });
});

describe('once such a caller has removed the rest, and another to whom it is revealed writes', () => {
  const rights = ['token:create', 'token:update', 'token:search', 'token:read'];
  const both = '{{ data.name }}{{ data.pin }}';

  test.each<[string, object]>([
    ['a part of the data', { data: { seen: 'x' } }],
    ['nothing into the data', { data: {} }],
    ['deduplicate_token', { deduplicate_token: true }],
    ['search indexes', { search_indexes: ['{{ data }}', '{{ data.pin }}{{ data.seen }}'] }],
    ['the expression of the fingerprint', { fingerprint_expression: '{{ data.pin }}{{ data.seen }}' }],
  ])('%s, what is left cannot be guessed', async (_, written) => {
    const { vault, owner, blind } = await world(rights);
    const { token } = await createToken(vault, owner, { data, search_indexes: ['{{ data }}'] });
    await updateToken(vault, blind, token.id, remove);
    const { data: left, fingerprint_expression } = (await updateToken(vault, owner, token.id, written)).token;
    expect(await isEqual(blind, token.id, { data: left, fingerprint_expression })).toBe(false);
    expect(await isFound(owner, token.id, quoted(left))).toBe(false);
    expect(await isFound(owner, token.id, '4821')).toBe(false);
  });

  test('all that the expressions name, or other data, both are there again', async () => {
    const { vault, owner, blind } = await world(rights);
    const { token } = await createToken(vault, owner, { data, search_indexes: [both], fingerprint_expression: both });
    await updateToken(vault, blind, token.id, remove);
    await updateToken(vault, owner, token.id, { data: { name: 'Eve' } });
    expect(await findToken(vault, owner, token.id)).not.toHaveProperty('fingerprint');
    expect(await isFound(owner, token.id, 'Eve4821')).toBe(false);
    await updateToken(vault, owner, token.id, { data: { name: 'Eve', pin: '0000' } });
    expect(await isEqual(owner, token.id, { data: { name: 'Eve', pin: '0000' }, fingerprint_expression: both })).toBe(
      true,
    );
    expect(await isFound(owner, token.id, 'Eve0000')).toBe(true);
    for (const written of ['text', { name: 'Ada' }, { pin: '1111' }]) {
      await updateToken(vault, owner, token.id, { data: written });
    }
    expect(await isFound(owner, token.id, 'Ada1111')).toBe(true);
  });

  test('what is of one member that is no object is there, also by a new expression', async () => {
    const { vault, owner, blind } = await world(rights);
    const { token } = await createToken(vault, owner, { data });
    await updateToken(vault, blind, token.id, remove);
    const one = { fingerprint_expression: '{{ data.pin }}', search_indexes: ['{{ data.pin }}'] };
    await updateToken(vault, owner, token.id, one);
    expect(await isEqual(owner, token.id, { data: { pin: '4821' }, ...one })).toBe(true);
    expect(await isFound(owner, token.id, '4821')).toBe(true);
  });

  test('a fingerprint that was never divided stays', async () => {
    const { vault, owner, blind } = await world(rights);
    const input = { data, fingerprint_expression: both };
    const { token } = await createToken(vault, owner, input);
    await updateToken(vault, blind, token.id, { data: { other: 'x' } });
    for (const written of [{ data: { seen: 'x' } }, { deduplicate_token: true }, { fingerprint_expression: both }]) {
      await updateToken(vault, owner, token.id, written);
      expect(await isEqual(owner, token.id, input)).toBe(true);
    }
  });

  test('a fingerprint for which only deduplication asked is made again where it asks again', async () => {
    const { vault, owner, blind } = await world(rights, { fingerprint_tokens: false });
    for (const deduplicate_token of [false, true]) {
      const { token } = await createToken(vault, owner, { data, deduplicate_token });
      await updateToken(vault, blind, token.id, remove);
      expect((await updateToken(vault, owner, token.id, { data: 'text' })).token).not.toHaveProperty('fingerprint');
      const asked = await updateToken(vault, owner, token.id, { deduplicate_token });
      expect(asked.token.fingerprint !== undefined).toBe(deduplicate_token);
    }
  });
});
