import { useStack } from '@sluice/testing';
import { textLengthOf } from '../expressions/text-length.ts';
import { createToken, detokenizeEach, type Json } from '../index.ts';
import { openTestVault } from '../testing/open-test-vault.ts';
import { readVisible } from '../tokens/read/present-token.ts';

const open = useStack(openTestVault);
const kibibyte = 1024;

async function naming() {
  const { vault, createActor } = open.current;
  const actor = await createActor({
    rules: [{ container: '/', transform: 'reveal', permissions: ['token:create', 'token:read'] }],
  });
  const { token } = await createToken(vault, actor, { type: 'token', data: 'x'.repeat(64 * kibibyte) });
  const value = (mebibytes: number): Json => Array(16 * mebibytes).fill(`{{ ${token.id} }}`);
  return { detokenize: (values: Json[]) => detokenizeEach(vault, actor, values), value };
}

test('the results of several values have at most 5 MiB together, each by itself as much', async () => {
  const { detokenize, value } = await naming();
  await expect(detokenize([value(3), value(3)])).rejects.toMatchObject({ code: 'payload_too_large' });
  for (const each of [3, 3]) expect(JSON.stringify(await detokenize([value(each)])).length).toBeGreaterThan(3_000_000);
  expect(await detokenize([value(2), value(2)])).toHaveLength(2);
});

describe('what masks show counts like what is decrypted: at most 8 MiB for one request', () => {
  const masked = { container: '/', transform: 'mask' as const, permissions: ['token:create', 'token:read'] };
  const mebibyte = kibibyte * kibibyte;

  test.each<[string, Json, Json]>([
    ['text of the mask itself', 'v', 'x'.repeat(mebibyte - 100)],
    ['values that a mask repeats', 'x'.repeat(60 * kibibyte), '{{ data }}{{ data }} '.repeat(8)],
  ])('%s', async (_, data, mask) => {
    const { vault, createActor } = open.current;
    const actor = await createActor({ rules: [masked] });
    const ids: string[] = [];
    for (let at = 0; at < 12; at += 1) ids.push((await createToken(vault, actor, { data, mask })).token.id);
    const found = await vault.tokens.find(actor.tenantId, ids);
    const { data: shown } = await readVisible(vault, actor, found, { needed: new Set() });
    const bytes = [...shown.values()].reduce<number>((sum, value) => sum + textLengthOf(value), 0);
    expect([bytes > 4 * mebibyte, bytes <= 8 * mebibyte]).toEqual([true, true]);
    await expect(detokenizeEach(vault, actor, [ids.map((id) => `{{ ${id} }}`)])).rejects.toMatchObject({
      ...{ code: 'payload_too_large', detail: expect.stringContaining('8 MiB') },
    });
  });
});
