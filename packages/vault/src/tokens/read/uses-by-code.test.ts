import { useStack } from '@sluice/testing';
import { createToken, findToken, type Through } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const setup = useStack((stack) => openTestVault(stack));

test.each<[Omit<Through, 'counted'>, object]>([
  [
    { entityType: 'proxy', entityId: 'p', destinationHost: 'shop.example.com', method: 'POST' },
    { destination_host: 'shop.example.com', method: 'POST', places: ['transform'] },
  ],
  [{ entityType: 'reactor', entityId: 'r' }, { places: ['code'] }],
])('what code of %j reads is a row of what has the code', async (through, detail) => {
  const { vault, createActor, disclosures } = setup.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { type: 'token', data: 'value' });
  disclosures.length = 0;
  expect(await findToken(vault, { ...actor, through: { ...through, counted: new Map() } }, token.id)).toMatchObject({
    data: 'value',
  });
  const { entityType, entityId } = through;
  expect(disclosures).toMatchObject([{ operation: 'use', entityType, entityId }]);
  expect(disclosures[0]?.detail).toEqual({ token_ids: [token.id], application_id: actor.id, ...detail });
});
