import { randomUUID } from 'node:crypto';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { type CreatedToken, createToken, createTokens, draftToken, theOnly } from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import type { Actor } from '../token.ts';

describe.each([
  { name: 'in one statement', tokensOnShards: false },
  { name: 'in statements of one place each', tokensOnShards: true },
])('$name', ({ tokensOnShards }) => {
  const open = useStack((stack) => openTestVault(stack, { tokensOnShards }));

  const create = (actor: Actor, id: string) =>
    createToken(open.current.vault, { ...actor, traceId: `trace of ${id}` }, { id, type: 'token', data: id });

  const randomIds = (count: number) => Array.from({ length: count }, () => randomUUID());

  async function storedIds({ tenantId }: Actor): Promise<string[]> {
    const rows = await open.current.db.selectFrom('tokens').select('id').where('tenant_id', '=', tenantId).execute();
    return rows.map(({ id }) => id).sort();
  }

  async function countTransactions({ tenantId }: Actor): Promise<number> {
    const { rows } = await sql<{ xmin: string }>`
    select distinct xmin::text from tokens where tenant_id = ${tenantId}
  `.execute(open.current.db);
    return rows.length;
  }

  const waitingInserts = sql`
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into tokens%'
  `;

  /** Resolves once this many transactions wait; the creation goes on. */
  async function whenStatementsWait(count: number, begin: () => Promise<CreatedToken>) {
    const creation = begin();
    creation.catch(() => undefined); // awaited by the caller
    await eventually(`${count} statements wait`, async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::integer as n ${waitingInserts}`.execute(
        open.current.db,
      );
      return rows[0]?.n === count;
    });
    return { creation };
  }

  test('those that come at the same moment share one transaction, up to 32', async () => {
    const actor = await open.current.createActor();
    await create(actor, 'first');
    await Promise.all(randomIds(32).map((id) => create(actor, id)));
    expect(await countTransactions(actor)).toBe(2);
  });

  test('tokens that are created at the same time share statements, and each keeps its own trace', async () => {
    const actor = await open.current.createActor();
    await create(actor, 'first');
    const ids = randomIds(60);
    const created = await Promise.all(ids.map((id) => create(actor, id)));

    expect(created.map(({ token }) => [token.id, token.data])).toEqual(ids.map((id) => [id, id]));
    expect(await countTransactions(actor)).toBeLessThan(10);
    expect(await storedIds(actor)).toEqual(['first', ...ids].sort());
    const audited = await open.current.auditOf(actor, 'create');
    expect(audited.map(({ entity_id }) => entity_id).sort()).toEqual(['first', ...ids].sort());
    expect(audited.filter(({ entity_id, trace_id }) => trace_id !== `trace of ${entity_id}`)).toEqual([]);
  });

  test('of those that share a statement, only the one whose id is taken is refused', async () => {
    const actor = await open.current.createActor();
    const ids = randomIds(20);
    const asked = [...ids, ...ids.slice(0, 3)];
    const outcomes = await Promise.allSettled(asked.map((id) => create(actor, id)));

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' });
    }
    expect(await storedIds(actor)).toEqual([...ids].sort());
    expect(await open.current.auditOf(actor, 'create')).toHaveLength(20);
  });

  test('those that keep answers share transactions too; one whose key is in use is refused, and the others are there', async () => {
    const { vault } = open.current;
    const actor = await open.current.createActor();
    const ids = randomIds(60);
    const inUse = new Set([ids[7], ids[30]]);
    const kept: string[] = [];
    const outcomes = await Promise.allSettled(
      ids.map(async (id) => {
        const creation = await draftToken(vault, actor, { id, data: id });
        const settle = async (tx: Queryable) => {
          if (inUse.has(id)) throw new ServiceError('conflict', 'in use');
          await sql`select 1`.execute(tx);
          kept.push(id);
        };
        return (await createTokens(creation, { answerTo: theOnly, settle })).token.data;
      }),
    );
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.detail))).toEqual(
      ids.map((id) => (inUse.has(id) ? 'in use' : id)),
    );
    const stored = ids.filter((id) => !inUse.has(id)).sort();
    expect(await storedIds(actor)).toEqual(stored);
    expect([...new Set(kept)].sort()).toEqual(stored);
    expect(await countTransactions(actor)).toBeLessThan(20);
    const audited = await open.current.auditOf(actor, 'create');
    expect(audited.map(({ entity_id }) => entity_id).sort()).toEqual(stored);
  });

  test('a lost connection fails those whose statement it was, which are not stored; the others are', async () => {
    const { db, createActor } = open.current;
    const actor = await createActor();
    await create(actor, 'first');
    const { settled } = await db.transaction().execute(async (tx) => {
      await sql`lock table tokens in share mode`.execute(tx);
      const one = await whenStatementsWait(1, () => create(actor, 'second'));
      const other = await whenStatementsWait(2, () => create(actor, 'third'));
      const settled = Promise.allSettled([
        one.creation,
        other.creation,
        ...randomIds(8).map((id) => create(actor, id)),
      ]);
      await sql`select pg_terminate_backend(pid) ${waitingInserts}`.execute(tx);
      return { settled };
    });
    const outcomes = await settled;

    const stored = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.token.id] : []));
    expect(stored).toHaveLength(8);
    expect(await storedIds(actor)).toEqual(['first', ...stored].sort());
  });

  test('of those that waited for their turn, only those whose key was revoked meanwhile are refused', async () => {
    const { vault, db, createActor } = open.current;
    const actor = await createActor();
    const [first, second, kept, ended] = ['first', 'second', 'kept', 'ended'];
    let asked = 0;
    const revoked = new Set<string>();
    const insert: typeof vault.inserts.insert = (...request) => {
      asked += 1;
      return vault.inserts.insert(...request);
    };
    const counting = { ...vault, inserts: { insert, insertWith: vault.inserts.insertWith } };
    const creating = (data: string) => {
      const look = () => {
        if (revoked.has(data)) throw new ServiceError('unauthenticated', 'revoked');
        return undefined;
      };
      return createToken(counting, { ...actor, look }, { id: data, data });
    };
    const { settled } = await db.transaction().execute(async (tx) => {
      await sql`lock table tokens in share mode`.execute(tx);
      const one = await whenStatementsWait(1, () => creating(first));
      const other = await whenStatementsWait(2, () => creating(second));
      const settled = Promise.allSettled([one.creation, other.creation, ...[kept, ended].map(creating)]);
      await eventually('the others wait for their turn', async () => asked === 4);
      revoked.add(first).add(ended);
      return { settled };
    });
    const outcomes = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : one.value.token.id));
    expect(outcomes).toEqual([first, second, kept, 'unauthenticated']);
    expect(await storedIds(actor)).toEqual([first, kept, second].sort());
  });

  test('an id that is taken is a conflict whatever the constraint and the table of a shard are called', async () => {
    const { db } = open.current;
    const actor = await open.current.createActor();
    const renamed = [
      'alter table tokens rename constraint tokens_pkey to tokens_pkey_102008',
      'alter table tokens rename to tokens_102008',
      'create view tokens as select * from tokens_102008',
    ];
    const back = ['drop view tokens', 'alter table tokens_102008 rename to tokens'];
    for (const statement of renamed) await sql.raw(statement).execute(db);
    try {
      await create(actor, 'taken');
      await expect(create(actor, 'taken')).rejects.toMatchObject({ code: 'conflict' });
    } finally {
      for (const statement of back) await sql.raw(statement).execute(db);
      await sql.raw('alter table tokens rename constraint tokens_pkey_102008 to tokens_pkey').execute(db);
    }
  });

  test('another unique index is no taken id', async () => {
    const { db } = open.current;
    const actor = await open.current.createActor();
    await create(actor, 'first');
    const { rows } = await sql<{
      month: string;
    }>`select tableoid::regclass::text as month from audit_log limit 1`.execute(db);
    const month = rows[0]?.month ?? '';
    await sql
      .raw(`create unique index one_only on ${month} (tenant_id) where tenant_id = '${actor.tenantId}'`)
      .execute(db);
    try {
      await expect(create(actor, 'second')).rejects.toMatchObject({ code: '23505', table: month });
    } finally {
      await sql.raw('drop index one_only').execute(db);
    }
  });
});
