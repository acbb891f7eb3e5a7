import { slow, useStack } from '@sluice/testing';
import { createToken, type DecryptionBudget, findToken, updateToken, type Vault } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);
const kibibyte = 1024;
const data = 'x'.repeat(200 * kibibyte);
const patch = { metadata: { a: 'b' } };

/** A token, and an Application that acts through a Proxy's transform with this much left of its budget. */
async function actThrough(leftBytes: number, grants: { rules?: object[]; data?: string } = {}) {
  const { vault, createActor } = open.current;
  const owner = await createActor();
  const { token } = await createToken(vault, owner, { data: grants.data ?? data });
  const held: number[] = [];
  const decryption: DecryptionBudget = {
    leftBytes,
    hold: (bytes) => {
      held.push(bytes);
      return undefined;
    },
  };
  const through = {
    entityType: 'proxy',
    entityId: 'p',
    destinationHost: 'd',
    method: 'POST',
    decryption,
    counted: new Map(),
  } as const;
  const application = await createActor({ tenantId: owner.tenantId, ...(grants.rules && { rules: grants.rules }) });
  return { vault, owner, token, decryption, held, actor: { ...application, through } };
}

test('an update by a transform decrypts within what all its calls may decrypt, and reserves memory first', async () => {
  const { vault, actor, token, decryption, held } = await actThrough(500 * kibibyte);
  await updateToken(vault, actor, token.id, patch);
  expect(decryption.leftBytes).toBeLessThan(300 * kibibyte);
  expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(1000 * kibibyte); // four copies, and its data
  await updateToken(vault, actor, token.id, patch);
  await expect(updateToken(vault, actor, token.id, patch)).rejects.toMatchObject({ code: 'payload_too_large' });
});

test('an update beyond it changes nothing', async () => {
  const { vault, owner, actor, token } = await actThrough(100 * kibibyte);
  const before = await findToken(vault, owner, token.id);
  await expect(updateToken(vault, actor, token.id, patch)).rejects.toMatchObject({ limit: 'opened_data' });
  expect(before.data).toBe(data);
  expect(await findToken(vault, owner, token.id)).toEqual(before);
});

test('the size of a token that the actor does not see decides about no error, but its memory is reserved', async () => {
  const rules = [{ transform: 'redact', permissions: ['token:read', 'token:update'] }];
  const { vault, actor, token, decryption, held } = await actThrough(kibibyte, { rules });
  await updateToken(vault, actor, token.id, patch);
  expect(decryption.leftBytes).toBe(kibibyte);
  expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(1000 * kibibyte);
});

test('an update of a small token reserves no more than it needs', async () => {
  const { vault, actor, token, held } = await actThrough(500 * kibibyte, { data: 'small' });
  await updateToken(vault, actor, token.id, patch);
  expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(kibibyte);
});

slow('1.4 s')(
  'attempts that others overtake take no more of what all calls may decrypt, and reserve no more, than one',
  async () => {
    const { vault, owner, actor, token, decryption, held } = await actThrough(500 * kibibyte);
    await updateToken(vault, actor, token.id, patch);
    const [leftBytes, ofOne] = [decryption.leftBytes, held.reduce((sum, bytes) => sum + bytes, 0)];
    held.length = 0;
    let attempts = 0;
    // Another handle of Postgres stands for another process, whose changes do not wait for ours.
    const elsewhere: Vault = { ...vault, db: vault.db.withoutPlugins() };
    const overtaken: Vault = {
      ...vault,
      dataKeys: {
        ...vault.dataKeys,
        async reserve(...key) {
          attempts += 1;
          await updateToken(elsewhere, owner, token.id, { metadata: { attempts: String(attempts) } });
          return vault.dataKeys.reserve(...key);
        },
      },
    };
    await expect(updateToken(overtaken, actor, token.id, patch)).rejects.toMatchObject({ code: 'unavailable' });
    expect(attempts).toBe(10);
    expect(decryption.leftBytes).toBe(leftBytes);
    expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1.1 * ofOne);
    const asked: number[] = [];
    const direct = { ...owner, hold: (bytes: number) => void asked.push(bytes) };
    await expect(updateToken(overtaken, direct, token.id, patch)).rejects.toMatchObject({ code: 'unavailable' });
    const ofAll = asked.splice(0).reduce((sum, bytes) => sum + bytes, 0);
    await updateToken(vault, direct, token.id, patch);
    expect(ofAll).toBeLessThan(1.1 * asked.reduce((sum, bytes) => sum + bytes, 0));
  },
);
