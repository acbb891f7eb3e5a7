import { useStack } from '@sluice/testing';
import { createToken, type Json, tokenize } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);

const keyed = (data: object) => ({
  type: 'token',
  data: { k: 1, ...data },
  fingerprint_expression: '{{ data.k }}',
  deduplicate_token: true,
});

async function answerTo(count: number, bytes: number): Promise<{ data?: Json; id: string }[]> {
  const { vault, createActor } = open.current;
  const actor = await createActor();
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

test('what is told of each, however short, has 8 MiB too; beyond, nothing is created', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const containers = Array.from({ length: 20 }, (_, at) => `/${at}${'a'.repeat(390)}/`);
  await createToken(vault, actor, { ...keyed({}), containers });
  const tokens = async () => (await open.current.db.selectFrom('tokens').select('id').execute()).length;
  const before = await tokens();
  const many = (count: number): Json => ['new', ...Array(count).fill(keyed({}))];
  await expect(tokenize(vault, actor, many(1200))).rejects.toMatchObject({ code: 'payload_too_large' });
  expect(await tokens()).toBe(before);
  expect(await tokenize(vault, actor, many(900))).toHaveLength(901);
  expect(await tokens()).toBe(before + 1);
});
