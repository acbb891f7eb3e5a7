import { ServiceError } from '@sluice/problems';
import { useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { createToken, createTokens, draftToken, theOnly, tokenize } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);

test('a conflict that is not about a taken id ends the creation at once', async () => {
  const { vault, createActor } = open.current;
  const creation = await draftToken(vault, await createActor(), { id: 'own', data: 1 });
  let calls = 0;
  const created = createTokens(creation, {
    answerTo: theOnly,
    settle: async () => {
      calls += 1;
      throw new ServiceError('conflict', 'taken over');
    },
  });
  await expect(created).rejects.toThrow('taken over');
  expect(calls).toBe(1);
});

test('where an equal token is deleted before it can be shown, nothing is created', async () => {
  const { vault, db, createActor } = open.current;
  const actor = await createActor();
  const equal = { type: 'token', data: 'equal', deduplicate_token: true };
  await createToken(vault, actor, { ...equal, metadata: { vanishes: 'yes' } });
  await sql`
    create function vanish() returns trigger language plpgsql as
    $$ begin delete from tokens where metadata ->> 'vanishes' = 'yes'; return null; end $$
  `.execute(db);
  await sql`
    create trigger vanish after insert on tokens for each statement execute function vanish()
  `.execute(db);
  await expect(tokenize(vault, actor, ['new', equal])).rejects.toMatchObject({ code: 'conflict' });
  const rows = await db.selectFrom('tokens').select('metadata').where('tenant_id', '=', actor.tenantId).execute();
  expect(rows).toEqual([{ metadata: { vanishes: 'yes' } }]);
});

test('a month that ends between storing and showing an equal token does no harm', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 'equal' });
  const creation = await draftToken(vault, actor, { data: 'equal', deduplicate_token: true });
  const moments = ['2100-01-31T23:59:59.999Z'];
  const clock = () => new Date(moments.shift() ?? '2100-02-01T00:00:00.000Z');
  const created = await createTokens(
    { ...creation, vault: { ...vault, clock } },
    { answerTo: (tokens) => tokens, settle: async () => {} },
  );
  expect(created).toMatchObject([{ created: false, token: { id: token.id } }]);
});
