import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@sluice/database';
import { openTestCoherence, useStack } from '@sluice/testing';
import { assembleVault, createToken, createTokens, draftToken, localKeyWrapper } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** Each key encrypts one token, so the draft has not loaded the key of the equal token. */
const keys = {
  keyWrapper: localKeyWrapper(randomBytes(32).toString('base64')),
  ...{ reservationSize: 1, maximumUses: 1 },
};

const world = useStack(async (stack) => {
  const warm = await openTestVault(stack, keys);
  const options = { DATABASE_URL: warm.url, DATABASE_POOL_SIZE: 1 };
  const db = connectDatabase(options, { stack, onError: () => undefined });
  const { caches, changes } = await openTestCoherence(warm, stack);
  const cold = assembleVault({ ...keys, db, caches, changes, disclosures: warm.vault.disclosures });
  return { warm, cold };
});

test('a creation in a transaction takes no second connection when it reads, counts and shows an equal token', async () => {
  const { warm, cold } = world.current;
  const actor = await warm.createActor();
  const { token } = await createToken(warm.vault, actor, { data: 'equal' });
  const ofTenant = warm.db.updateTable('tokens').where('tenant_id', '=', actor.tenantId);
  await ofTenant.set({ active_month: '2020-01-01' }).execute();

  const creation = await draftToken(cold, actor, { data: 'equal', deduplicate_token: true });
  const created = await createTokens(creation, { answerTo: (tokens) => tokens, settle: async () => {} });
  expect(created).toMatchObject([{ created: false, token: { id: token.id, data: 'equal' } }]);
  const { active_month } = await warm.db
    .selectFrom('tokens')
    .select('active_month')
    .where('tenant_id', '=', actor.tenantId)
    .executeTakeFirstOrThrow();
  expect(active_month).not.toBe('2020-01-01');
});
