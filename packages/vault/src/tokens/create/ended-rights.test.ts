import { connectDatabase, poolState } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { eventually, useStack } from '@sluice/testing';
import { createToken, createTokens, draftToken, theOnly } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import { TokenInserts } from './token-inserts.ts';

const world = useStack(async (stack) => {
  const warm = await openTestVault(stack);
  const options = { DATABASE_URL: warm.url, DATABASE_POOL_SIZE: 1, DATABASE_WAIT_MS: 20_000 };
  const db = connectDatabase(options, { stack, onError: console.error });
  return { ...warm, narrow: { ...warm.vault, db, inserts: new TokenInserts(db, { onShards: false }) } };
});

describe.each([
  { name: 'a creation', isKeyed: false },
  { name: 'a creation that keeps its answer', isKeyed: true },
])('$name that waited for a connection to Postgres', ({ isKeyed }) => {
  async function createWhileBusy(meanwhile: (revoke: () => void) => void) {
    const { narrow, createActor } = world.current;
    let isRevoked = false;
    const look = () => {
      if (isRevoked) throw new ServiceError('unauthenticated', 'revoked');
      return undefined;
    };
    const actor = { ...(await createActor()), look };
    const creation = await draftToken(narrow, actor, { data: 'any' });
    const create = async () => {
      if (!isKeyed) return createToken(narrow, actor, { data: 'any' });
      return createTokens(creation, { answerTo: theOnly, settle: async () => {} });
    };
    const { created } = await narrow.db.connection().execute(async () => {
      const created = create();
      created.catch(() => undefined); // awaited below
      await eventually('the creation waits', async () => poolState(narrow.db).waiting > 0);
      meanwhile(() => {
        isRevoked = true;
      });
      return { created };
    });
    const [outcome] = await Promise.allSettled([created]);
    const stored = await world.current.db
      .selectFrom('tokens')
      .select('id')
      .where('tenant_id', '=', actor.tenantId)
      .execute();
    return [outcome.status === 'rejected' ? outcome.reason.code : outcome.value?.created, stored.length];
  }

  test('stores nothing if its key was revoked meanwhile', async () => {
    expect(await createWhileBusy((revoke) => revoke())).toEqual(['unauthenticated', 0]);
  });

  test('is done if its key is as it was', async () => {
    expect(await createWhileBusy(() => undefined)).toEqual([true, 1]);
  });
});
