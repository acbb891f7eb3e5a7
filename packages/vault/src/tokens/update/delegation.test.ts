import { ServiceError } from '@sluice/problems';
import { slow, useStack } from '@sluice/testing';
import fc from 'fast-check';
import { type Actor, createToken, findToken, type Json, updateToken } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import { anyPatch, anyRule, hidden, places, sightOf } from '../../testing/sight-of-tokens.ts';

const open = useStack(openTestVault);

async function sessionOf(application: Actor, grants: object): Promise<Actor> {
  const own = await open.current.createActor({ tenantId: application.tenantId, ...grants });
  const within = { permissions: application.permissions, rules: application.rules };
  return { ...own, actorType: 'session', applicationId: application.id, within };
}

async function isPatched(actor: Actor, id: string, patch: Json): Promise<boolean> {
  try {
    await updateToken(open.current.vault, actor, id, patch);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'forbidden') return false;
    throw error;
  }
}

test('a session that sees nothing moves no token to where its Application sees more than it did', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const application = await createActor({
    tenantId: owner.tenantId,
    rules: [
      { container: '/pci/', transform: 'redact', permissions: ['token:read', 'token:update'] },
      { container: '/low/', transform: 'reveal', permissions: ['token:read', 'token:update'] },
    ],
  });
  const session = await sessionOf(application, { permissions: ['token:update'] });
  const { token } = await createToken(vault, owner, { data: 'hidden', containers: ['/pci/'] });
  const move = { containers: ['/low/'] };
  for (const actor of [application, session]) {
    await expect(updateToken(vault, actor, token.id, move)).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('containers'),
    });
  }
  expect(await findToken(vault, application, token.id)).not.toHaveProperty('data');
});

test('what an actor sees is found: the property below can fail', async () => {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, hidden);
  expect(await sightOf(vault, owner, token.id)).toEqual({ isShown: true, isFound: true });
  const blind = await createActor({ tenantId: owner.tenantId, permissions: ['token:update'] });
  expect(await sightOf(vault, blind, token.id)).toEqual({ isShown: false, isFound: false });
});

slow('0.9 s')(
  'no sequence of patches by a session and its Application shows either what the Application did not see',
  async () => {
    const { vault, createActor } = open.current;
    const owner = await createActor();
    const counts = { patched: { application: 0, session: 0 }, refused: { application: 0, session: 0 } };
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyRule, { minLength: 1, maxLength: 5 }),
        fc.array(anyRule, { maxLength: 3 }),
        fc.subarray(['token:update', 'token:read']),
        fc.subarray(places, { minLength: 1 }),
        fc.array(fc.tuple(fc.constantFrom('application' as const, 'session' as const), anyPatch), {
          minLength: 2,
          maxLength: 6,
        }),
        async (rules, ownRules, permissions, containers, steps) => {
          const application = await createActor({ tenantId: owner.tenantId, rules });
          const actors = { application, session: await sessionOf(application, { rules: ownRules, permissions }) };
          const { token } = await createToken(vault, owner, { ...hidden, containers });
          const before = await sightOf(vault, application, token.id);
          for (const [who, patch] of steps) {
            const patched = await isPatched(actors[who], token.id, patch);
            counts[patched ? 'patched' : 'refused'][who]++;
            if (!patched || (before.isShown && before.isFound)) continue;
            for (const actor of Object.values(actors)) {
              const after = await sightOf(vault, actor, token.id);
              if (!before.isShown) expect(after.isShown).toBe(false);
              if (!before.isFound) expect(after.isFound).toBe(false);
            }
          }
        },
      ),
      { numRuns: 100, endOnFailure: true },
    );
    expect(counts.patched.session).toBeGreaterThan(10);
    expect(counts.refused.session).toBeGreaterThan(10);
    expect(counts.patched.application).toBeGreaterThan(10);
  },
);
