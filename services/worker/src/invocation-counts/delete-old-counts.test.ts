import { randomUUID } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';
import { sweepOverlooked } from '../overlooked/sweep-overlooked.ts';
import { testRows } from '../testing/test-rows.ts';

const database = useStack((stack) => openTestDatabase(stack));

const minuteMs = 60_000;
const [hour, day] = [60, 24 * 60];

test('counts go once no range shows them: minutes after 2 hours, quarters of an hour after 9 days, the others after 35', async () => {
  const { db } = database.current;
  const rows = testRows(db);
  const tenants = [await rows.tenant(), await rows.tenant()];
  const ages = [
    { step: 60, kept: [0, hour, 2 * hour - 1], old: [2 * hour + 1, 100 * day] },
    { step: 900, kept: [0, 2 * hour + 1, 9 * day - 1], old: [9 * day + 1] },
    { step: 21_600, kept: [0, 9 * day + 1, 35 * day - 1], old: [35 * day + 1, 400 * day] },
  ];
  const now = Date.now();
  const startOf = (age: number) => new Date(now - age * minuteMs).toISOString();
  const counts = { requests: 1, destination_errors: 0, errors: '{}', durations: '{}' };
  for (const tenant_id of tenants) {
    for (const { step, kept, old } of ages) {
      const starts = [...kept, ...old].map(startOf);
      const each = { tenant_id, step, kind: 'tenant', id: tenant_id, ...counts } as const;
      await db
        .insertInto('invocation_counts')
        .values(starts.map((start) => ({ ...each, start })))
        .execute();
    }
  }
  // More than a batch
  const many = Array.from({ length: 2500 }, () => ({
    ...{ tenant_id: tenants[0] ?? '', step: 60, kind: 'proxy' as const, id: randomUUID(), start: startOf(3 * hour) },
    ...counts,
  }));
  await db.insertInto('invocation_counts').values(many).execute();
  await Promise.all([sweepOverlooked(db), sweepOverlooked(db)]);
  await sweepOverlooked(db); // deletes what each left to the other
  for (const tenant_id of tenants) {
    const left = await db
      .selectFrom('invocation_counts')
      .select(['step', 'start'])
      .where('tenant_id', '=', tenant_id)
      .orderBy('step')
      .orderBy('start', 'desc')
      .execute();
    const expected = ages.flatMap(({ step, kept }) => kept.map((age) => ({ step, start: startOf(age) })));
    expect(left).toEqual(expected);
  }
});
