import { useStack } from '@sluice/testing';
import { createToken, type Json, tokenize } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

/** A few bytes can name a large token by its fingerprint, five thousand times in one request. */
const open = useStack(openTestVault);

const keyed = (data: object) => ({
  type: 'token',
  data: { k: 1, ...data },
  fingerprint_expression: '{{ data.k }}',
  deduplicate_token: true,
});

async function answerTo(count: number, bytes: number): Promise<{ data?: Json; id: string }[]> {
  const { vault, newActor } = open.current;
  const actor = await newActor();
  await createToken(vault, actor, keyed({ large: 'x'.repeat(bytes) }));
  const answer = await tokenize(vault, actor, Array(count).fill(keyed({})));
  return answer as unknown as { data?: Json; id: string }[];
}

test('of a large token that many are equal to, an answer shows at most 8 MiB', async () => {
  const answer = await answerTo(400, 1_000_000);
  expect(JSON.stringify(answer).length).toBeLessThan(9 * 1024 * 1024);
  expect([answer.length, new Set(answer.map(({ id }) => id)).size]).toEqual([400, 1]);
  expect(answer.filter(({ data }) => data !== undefined)).toHaveLength(8);
});

test('the control: a small one is shown each time', async () => {
  const answer = await answerTo(400, 1000);
  expect(answer.filter(({ data }) => data !== undefined)).toHaveLength(400);
});
