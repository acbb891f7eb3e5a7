import { useStack } from '@sluice/testing';
import { createToken, detokenizeEach, type Json } from '../index.ts';
import { openTestVault } from '../testing/open-test-vault.ts';

const open = useStack(openTestVault);
const kibibyte = 1024;

/** A value that names a token of 64 KiB so often that the result has this many MiB. */
async function naming() {
  const { vault, newActor } = open.current;
  const actor = await newActor({
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
