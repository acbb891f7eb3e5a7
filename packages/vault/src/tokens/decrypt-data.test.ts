import { slow, useStack } from '@sluice/testing';
import { type Actor, createToken, detokenize, type Json, revealForUse } from '../index.ts';
import { openTestVault } from '../testing/open-test-vault.ts';

const vault = useStack((stack) => openTestVault(stack));

const large = 'x'.repeat(2 ** 20 - 10);

async function tokensOf(count: number, data: Json): Promise<{ actor: Actor; ids: string[] }> {
  const actor = await vault.current.createActor();
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push((await createToken(vault.current.vault, actor, { data })).token.id);
  return { actor, ids };
}

slow('3.8 s')('what stands without a filter is decrypted up to 8 MiB, beyond that the request is refused', async () => {
  const { actor, ids } = await tokensOf(9, large);
  const refused = expect.objectContaining({ code: 'payload_too_large' });
  await expect(revealForUse(vault.current.vault, actor, ids)).rejects.toEqual(refused);
  expect((await revealForUse(vault.current.vault, actor, ids.slice(0, 7))).size).toBe(7);
});

slow('3.5 s')('what only filters see decides about no error: beyond the bound it gives null', async () => {
  const { actor, ids } = await tokensOf(9, large);
  const needed = new Set(ids.slice(-1));
  const decrypted = await revealForUse(vault.current.vault, actor, ids, { needed });
  expect([decrypted.size, decrypted.has(ids.at(-1) ?? '')]).toEqual([8, true]);
  const last4 = (await detokenize(
    vault.current.vault,
    actor,
    ids.map((id) => `{{ ${id} | last4 }}`),
  )) as Json[];
  expect(last4.filter((text) => text === null).length).toBeGreaterThan(0);
  expect(last4.filter((text) => text === 'xxxx').length).toBeGreaterThan(0);
});

/** Their tokens are cached, so neither waits for Postgres. */
async function orderOf(data: Json): Promise<string[]> {
  const first = await tokensOf(7, data);
  const second = await tokensOf(1, 'y');
  const reveal = async ({ actor, ids }: { actor: Actor; ids: string[] }) =>
    revealForUse(vault.current.vault, actor, ids);
  await Promise.all([reveal(first), reveal(second)]);
  const order: string[] = [];
  await Promise.all([reveal(first).then(() => order.push('first')), reveal(second).then(() => order.push('second'))]);
  return order;
}

slow('2.5 s')('another Tenant is answered before large tokens are decrypted', async () => {
  expect(await orderOf(large)).toEqual(['second', 'first']);
});

test('the control: small tokens are decrypted at once', async () => {
  expect(await orderOf('x')).toEqual(['first', 'second']);
});
