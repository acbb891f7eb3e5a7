import { slow, useStack } from '@sluice/testing';
import {
  type Actor,
  createToken,
  createTokens,
  draftToken,
  type Json,
  listTokens,
  searchTokens,
  walkTokens,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);

const large = 'x'.repeat(2 ** 20 - 100);

async function tokensOf(count: number, input: object): Promise<{ actor: Actor; ids: string[] }> {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push((await createToken(vault, actor, input)).token.id);
  return { actor, ids: ids.toReversed() };
}

const largeTokens = (() => {
  let made: ReturnType<typeof tokensOf> | undefined;
  return () => {
    made ??= tokensOf(9, { data: { large, last: '4242' }, mask: '{{ data.last }}' });
    return made;
  };
})();

const idsOf = (tokens: readonly { id: string }[]) => tokens.map(({ id }) => id);

slow('4.5 s')('a page of a number that would show more than 8 MiB is refused, a smaller one is not', async () => {
  const { actor, ids } = await largeTokens();
  const { vault } = open.current;
  const refused = expect.objectContaining({ code: 'payload_too_large' });
  await expect(listTokens(vault, actor, {}, { page: 1, size: 20 })).rejects.toEqual(refused);
  await expect(searchTokens(vault, actor, { query: 'type:token', page: 1, size: 20 })).rejects.toEqual(refused);
  const { tokens, total } = await listTokens(vault, actor, {}, { page: 1, size: 7 });
  expect([idsOf(tokens), total]).toEqual([ids.slice(0, 7), 9]);
  expect(tokens.map(({ data }) => data)).toEqual(Array(7).fill({ large, last: '4242' }));
});

slow('1.2 s')('a walk has shorter pages instead, and finds each token once', async () => {
  const { actor, ids } = await largeTokens();
  const found: string[][] = [];
  let after: { created_at: string; id: string } | undefined;
  do {
    const { tokens, next } = await walkTokens(open.current.vault, actor, {}, { after, size: 20 });
    found.push(idsOf(tokens));
    after = next;
  } while (after);
  expect(found.flat()).toEqual(ids);
  expect(found.map(({ length }) => length)).toEqual([8, 1]);
});

slow('0.7 s')('metadata and masks count as well as data', async () => {
  const { actor } = await tokensOf(9, { data: 1, metadata: { a: large } });
  const list = listTokens(open.current.vault, actor, {}, { page: 1, size: 20 });
  await expect(list).rejects.toMatchObject({ code: 'payload_too_large' });
});

slow('2.1 s')('what is not shown is not counted: large data behind masks, and redacted', async () => {
  const { actor, ids } = await largeTokens();
  const { vault, createActor } = open.current;
  const masked = await createActor({ tenantId: actor.tenantId, permissions: ['token:read'] });
  const { tokens } = await listTokens(vault, masked, {}, { page: 1, size: 20 });
  expect(idsOf(tokens)).toEqual(ids);
  expect(tokens.every(({ data }) => data === '4242')).toBe(true);
  const blind = await createActor({ tenantId: actor.tenantId, rules: [{ transform: 'redact' }] });
  const redacted = await listTokens(vault, blind, {}, { page: 1, size: 20 });
  expect(redacted.tokens.map(({ data }) => data)).toEqual(Array(9).fill(undefined));
});

describe('masks that name the data many times', () => {
  const repeating = () => tokensOf(40, { data: 'x'.repeat(20_000), mask: '{{ data }}'.repeat(50) });
  const reader = async ({ actor: { tenantId } }: { actor: Actor }) =>
    open.current.createActor({ tenantId, permissions: ['token:read'] });

  slow('1.3 s')('are filled only as far as a page shows them, and each token shows its own', async () => {
    const tokens = await repeating();
    const actor = await reader(tokens);
    const { vault } = open.current;
    const found: string[] = [];
    let after: { created_at: string; id: string } | undefined;
    do {
      const walked = await walkTokens(vault, actor, {}, { after, size: 100 });
      expect(walked.tokens.every(({ data }) => data === 'x'.repeat(1_000_000))).toBe(true);
      found.push(...idsOf(walked.tokens));
      after = walked.next;
    } while (after);
    expect(found).toEqual(tokens.ids);
  });

  test('take about as much memory as what is shown', async () => {
    const actor = await reader(await repeating());
    let filled = 0;
    const join = Array.prototype.join;
    const spy = jest.spyOn(Array.prototype, 'join').mockImplementation(function (this: unknown[], separator) {
      const text = join.call(this, separator);
      if (text.length === 1_000_000) filled += 1;
      return text;
    });
    await walkTokens(open.current.vault, actor, {}, { size: 100 });
    spy.mockRestore();
    expect(filled).toBeGreaterThan(7);
    expect(filled).toBeLessThan(12);
  });
});

slow('3 s')('of equal tokens that a creation finds, an answer shows as much', async () => {
  const { vault, createTenant, createActor } = open.current;
  const actor = await createActor({
    tenantId: await createTenant({ deduplicate_tokens: true }),
    rules: [{ transform: 'reveal' }],
  });
  const keyed = (k: number, data: object) => ({ data: { k, ...data }, fingerprint_expression: '{{ data.k }}' });
  for (let k = 0; k < 9; k += 1) await createToken(vault, actor, keyed(k, { large }));
  const drafts = [];
  for (let k = 0; k < 9; k += 1) drafts.push(...(await draftToken(vault, actor, keyed(k, {}))).drafts);
  const created = await createTokens({ vault, actor, drafts }, { answerTo: (tokens) => tokens });
  expect(created.map(({ created: isNew }) => isNew)).toEqual(Array(9).fill(false));
  expect(created.filter(({ token }) => token.data === undefined)).toHaveLength(1);
});

/** Which of two Tenants is answered first, if both list at once over one connection, where Postgres answers in turn. */
async function orderOf(data: Json): Promise<string[]> {
  const { vault, db } = open.current;
  const [first, second] = [await tokensOf(3, { data }), await tokensOf(3, { data: 'y' })];
  const order: string[] = [];
  await db.connection().execute(async (connection) => {
    const list = async (name: string, { actor }: { actor: Actor }) => {
      await listTokens({ ...vault, db: connection }, actor, {}, { page: 1, size: 20 });
      order.push(name);
    };
    await Promise.all([list('first', first), list('second', second)]);
  });
  return order;
}

slow('0.7 s')('each part of a large page waits for its Tenant’s turn', async () => {
  const { vault } = open.current;
  const turnsOf = async (data: Json) => {
    const { actor } = await tokensOf(3, { data });
    const turns: string[] = [];
    const turn = (tenantId: string) => {
      turns.push(tenantId);
      return vault.workPieces.turn(tenantId);
    };
    await listTokens(
      { ...vault, workPieces: { run: vault.workPieces.run.bind(vault.workPieces), turn } },
      actor,
      {},
      { page: 1, size: 20 },
    );
    return turns.length;
  };
  expect([await turnsOf(large), await turnsOf('x')]).toEqual([2, 0]);
});

slow('0.5 s')('another Tenant’s page is answered before one of large tokens is read', async () => {
  expect(await orderOf(large)).toEqual(['second', 'first']);
});

test('the control: a page of small tokens is read at once', async () => {
  expect(await orderOf('x')).toEqual(['first', 'second']);
});
