import type { AccessRule } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { slow, useStack } from '@sluice/testing';
import fc from 'fast-check';
import { createToken, findToken, type Json, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import { anyPatch, anyRule, hidden, places, sightOf } from '../../testing/sight-of-tokens.ts';

const open = useStack(openTestVault);
const card = { type: 'card', data: { number: '4242424242424242' } };
const update = ['token:update'];

const rule = (container: string, transform: AccessRule['transform'], permissions: string[]) => ({
  container,
  transform,
  permissions: [...update, ...permissions],
});

describe('a move to where the caller would see more is 403 and names the member', () => {
  test.each<[string, Partial<AccessRule>[], string | undefined]>([
    ['mask to reveal', [rule('/a/', 'mask', ['token:read']), rule('/b/', 'reveal', ['token:read'])], 'containers'],
    ['redact to mask', [rule('/a/', 'redact', ['token:read']), rule('/b/', 'mask', ['token:read'])], 'containers'],
    ['nothing to redact', [rule('/a/', 'reveal', []), rule('/b/', 'redact', ['token:read'])], 'containers'],
    [
      'no use to use',
      [rule('/a/', 'mask', ['token:read']), rule('/b/', 'mask', ['token:read', 'token:use'])],
      'containers',
    ],
    [
      'no search to search',
      [rule('/a/', 'mask', ['token:read']), rule('/b/', 'mask', ['token:read', 'token:search'])],
      'containers',
    ],
    [
      'reveal to mask',
      [rule('/a/', 'reveal', ['token:read', 'token:use']), rule('/b/', 'mask', ['token:read'])],
      undefined,
    ],
    ['mask to mask', [rule('/a/', 'mask', ['token:read']), rule('/b/', 'mask', ['token:read'])], undefined],
  ])('%s', async (_, rules, refused) => {
    const { vault, createActor } = open.current;
    const owner = await createActor();
    const actor = await createActor({ tenantId: owner.tenantId, rules });
    const { token } = await createToken(vault, owner, { ...card, containers: ['/a/'] });
    const moved = updateToken(vault, actor, token.id, { containers: ['/b/'] });
    if (!refused) expect((await moved).token.containers).toEqual(['/b/']);
    else await expect(moved).rejects.toMatchObject({ code: 'forbidden', detail: expect.stringContaining(refused) });
  });

  test('by null, which moves it to where its type is', async () => {
    const { vault, createActor } = open.current;
    const owner = await createActor();
    const rules = [rule('/a/', 'mask', ['token:read']), rule('/pci/', 'reveal', ['token:read'])];
    const actor = await createActor({ tenantId: owner.tenantId, rules });
    const { token } = await createToken(vault, owner, { ...card, containers: ['/a/'] });
    await expect(updateToken(vault, actor, token.id, { containers: null })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

describe('what shows or tests the data is changed only by a caller to whom a rule reveals it', () => {
  const patches: [string, Json][] = [
    ['mask', { mask: { number: '{{ data.number }}' } }],
    ['mask', { mask: null }],
    ['search_indexes', { search_indexes: ['{{ data.number }}'] }],
    ['fingerprint_expression', { fingerprint_expression: '{{ data.number | slice: 0, 1 }}' }],
    ['fingerprint_expression', { fingerprint_expression: null, metadata: { a: 'b' } }],
  ];

  test.each(patches)('%s by %j', async (member, patch) => {
    const { vault, createActor } = open.current;
    const owner = await createActor();
    const { token } = await createToken(vault, owner, card);
    for (const grants of [
      { permissions: ['token:update'] },
      { permissions: ['token:update', 'token:read', 'token:use', 'token:search'] },
      { rules: [rule('/', 'mask', ['token:read', 'token:use'])] },
      { rules: [rule('/', 'reveal', ['token:use'])] },
    ]) {
      const actor = await createActor({ tenantId: owner.tenantId, ...grants });
      await expect(updateToken(vault, actor, token.id, patch)).rejects.toMatchObject({
        code: 'forbidden',
        detail: expect.stringContaining(member),
      });
    }
    expect(await findToken(vault, owner, token.id)).toEqual(token);
    const seeing = await createActor({ tenantId: owner.tenantId, rules: [rule('/', 'reveal', ['token:read'])] });
    await updateToken(vault, seeing, token.id, patch);
  });

  test('the refusal comes before anything that depends on the data', async () => {
    const { vault, createActor } = open.current;
    const owner = await createActor();
    const { token } = await createToken(vault, owner, card);
    const actor = await createActor({ tenantId: owner.tenantId, permissions: update });
    const patch = { data: { number: '1' }, mask: { number: '{{ data.number }}' } };
    await expect(updateToken(vault, actor, token.id, patch)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

test('a caller without token:read learns from a patch where the token is, and nothing else that it did not do itself', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const members = { metadata: { hidden: 'x' }, search_indexes: ['{{ data.number }}'], mask: 'hidden' };
  const { token } = await createToken(vault, owner, {
    ...card,
    ...members,
    fingerprint_expression: '{{ data.number }}',
  });
  const { tenantId } = owner;
  const blind = await createActor({ tenantId, permissions: update });
  for (const patch of [{}, { data: { expiration_year: 2031 } }, { metadata: { a: 'b' } }]) {
    expect((await updateToken(vault, blind, token.id, patch)).token).toEqual({
      ...{ id: token.id, type: 'card', tenant_id: tenantId, containers: token.containers },
      ...{ modified_by: blind.id, modified_at: expect.any(String) },
    });
  }
  const reading = await createActor({ tenantId, permissions: [...update, 'token:read'] });
  const { token: shown } = await updateToken(vault, reading, token.id, {});
  expect(shown).toMatchObject({ ...members, metadata: { hidden: 'x', a: 'b' }, fingerprint: expect.any(String) });
});

// Checks sequences, because each step alone may look harmless.
slow('5.4 s')('no sequence of patches shows a caller what it did not see before', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRule, { minLength: 1, maxLength: 5 }),
      fc.subarray(places, { minLength: 1 }),
      fc.array(anyPatch, { minLength: 2, maxLength: 6 }),
      async (rules, containers, patches) => {
        const actor = await createActor({ tenantId: owner.tenantId, rules });
        const input = { ...hidden, containers };
        const { token } = await createToken(vault, owner, input);
        const before = await sightOf(vault, actor, token.id);
        for (const patch of patches) {
          const done = await updateToken(vault, actor, token.id, patch).catch((error: unknown) => {
            if (error instanceof ServiceError && error.code === 'forbidden') return undefined;
            throw error;
          });
          if (!done) continue;
          changed++;
          if (before.isShown) continue;
          const after = await sightOf(vault, actor, token.id);
          expect(after.isShown).toBe(false);
          if (!before.isFound) expect(after.isFound).toBe(false);
          expect(JSON.stringify(done)).not.toContain('canary');
        }
      },
    ),
    { numRuns: 400 },
  );
  expect(changed).toBeGreaterThan(20);
});
