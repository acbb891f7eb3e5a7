import { connectDatabase, type Database, type Queryable } from '@sluice/database';
import { eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { filterBudget } from '../../expressions/filter-budget.ts';
import { type CreatedToken, createToken, createTokens } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import { monthOf } from '../read/activity.ts';
import { countActive, noteActiveRows } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { draftTokens } from './draft-tokens.ts';
import { lockFingerprints } from './equal-tokens.queries.ts';
import { insertTokens } from './insert-tokens.queries.ts';
import { readTokenInput } from './read-token-input.ts';

const month = monthOf(new Date());
/** As in `count.ts`: connections share a counter's row if their process numbers have the same rest. */
const slots = 16;

interface Connection {
  db: Database;
  pid: number;
}

const world = useStack(async (stack) => {
  const warm = await openTestVault(stack);
  const [ours, other] = await openTwo(warm.url, stack);
  return { ...warm, ours, other: other.db };
});

async function openTwo(url: string, stack: AsyncDisposableStack): Promise<[Connection, Connection]> {
  const byRest = new Map<number, Connection>();
  for (;;) {
    const db = connectDatabase({ DATABASE_URL: url, DATABASE_POOL_SIZE: 1 }, { stack, onError: console.error });
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
    const one = { db, pid: rows[0]?.pid ?? 0 };
    const other = byRest.get(one.pid % slots);
    if (other) return [other, one];
    byRest.set(one.pid % slots, one);
  }
}

function readAll(inputs: object[]) {
  const reading = { now: new Date(), budget: filterBudget() };
  return inputs.map((input) => readTokenInput(input, '', reading));
}

async function create(actor: Actor, inputs: object[]): Promise<readonly CreatedToken[]> {
  const { vault, ours } = world.current;
  const creation = await draftTokens({ ...vault, db: ours.db }, actor, readAll(inputs));
  return createTokens(creation, { answerTo: (tokens) => tokens, settle: async () => {} });
}

/** The creation begins after the other transaction's first locks, and waits when that takes the rest. */
async function collide(
  takeFirst: (tx: Queryable) => Promise<unknown>,
  creation: () => Promise<readonly CreatedToken[]>,
  takeRest: (tx: Queryable) => Promise<unknown>,
) {
  const { db, ours, other } = world.current;
  let created: Promise<readonly CreatedToken[]> | undefined;
  const collided = other.transaction().execute(async (tx) => {
    await takeFirst(tx);
    created = creation();
    created.catch(() => undefined); // awaited below
    await eventually('the creation waits', async () => {
      const { rows } = await sql`
        select from pg_stat_activity where pid = ${ours.pid} and wait_event_type = 'Lock'
      `.execute(db);
      return rows.length > 0;
    });
    await takeRest(tx);
  });
  const [theirs, own] = [await Promise.allSettled([collided]), await Promise.allSettled([created])];
  return [...theirs, ...own].map((settled) =>
    settled.status === 'fulfilled' ? settled.value : settled.reason.message,
  );
}

test('a creation that finds an equal token, and a read that counts that token', async () => {
  const { vault, db, createActor } = world.current;
  const actor = await createActor();
  const { tenantId } = actor;
  const { token } = await createToken(vault, actor, { data: 'equal' });
  await db.updateTable('tokens').set({ active_month: '2020-01-01' }).where('tenant_id', '=', tenantId).execute();
  const outcome = await collide(
    (tx) => noteActiveRows(tx, tenantId, [token.id], month),
    () =>
      create(actor, [
        { data: 'new', deduplicate_token: true },
        { data: 'equal', deduplicate_token: true },
      ]),
    (tx) => countActive(tx, tenantId, month, 1),
  );
  expect(outcome).toMatchObject([undefined, [{ created: true }, { created: false, token: { id: token.id } }]]);
});

test('a creation whose own id has expired, and one of an equal token', async () => {
  const { vault, createActor, expire } = world.current;
  const actor = await createActor();
  const { tenantId } = actor;
  await createToken(vault, actor, { id: 'expired', data: 'old' });
  await expire(actor, ['expired']);
  const equal = await draftTokens(vault, actor, readAll([{ data: 'equal', deduplicate_token: true }]));
  const tokens = equal.drafts.map(({ row }) => row);
  const outcome = await collide(
    (tx) =>
      lockFingerprints(
        tx,
        tenantId,
        tokens.map(({ fingerprint }) => fingerprint ?? ''),
      ),
    () => create(actor, [{ id: 'expired', data: 'equal', deduplicate_token: true }]),
    (tx) => insertTokens(tx, { actor, tokens, month, deduplicated: true }),
  );
  expect(outcome).toMatchObject([undefined, [{ created: false, token: { id: tokens[0]?.id } }]]);
});

test('the control: what locks a row of a token after it has counted ends in a deadlock', async () => {
  const { vault, db, createActor, ours } = world.current;
  const actor = await createActor();
  const { tenantId } = actor;
  const { token } = await createToken(vault, actor, { data: 'any' });
  await db.updateTable('tokens').set({ active_month: '2020-01-01' }).where('tenant_id', '=', tenantId).execute();
  const note = (tx: Queryable) => noteActiveRows(tx, tenantId, [token.id], month);
  const count = (tx: Queryable) => countActive(tx, tenantId, month, 1);
  const countFirst = async (tx: Queryable) => {
    await count(tx);
    await note(tx);
    return [];
  };
  const outcome = await collide(note, () => ours.db.transaction().execute(countFirst), count);
  expect(outcome).toContain('deadlock detected');
});
