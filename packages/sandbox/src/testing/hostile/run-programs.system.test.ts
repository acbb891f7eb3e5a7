import { openTransformPool } from '../../index.ts';
import { hostileModule, hostilePrograms, hostileReactors } from './programs.ts';
import { goodTraffic, type HostileReport, hostileLimits, runHostilePrograms } from './run-programs.ts';

let report: HostileReport;
beforeAll(async () => {
  // The wall limit holds for good traffic, too, which other tests may keep waiting.
  report = await runHostilePrograms({ limits: { ...hostileLimits, wallMs: 5_000 } });
});

/** The promise is 300 ms, and `npm run transform -- hostile` measures it; here other tests have the machine. */
const graceMs = 10_000;

test.each(Object.keys({ ...hostilePrograms, ...hostileReactors }))('%s is answered with an error, in time', (name) => {
  const row = report.rows.find(({ program }) => program === name);
  expect(row).toMatchObject({ program: name, detail: expect.stringMatching(/./) });
  expect(row?.stoppedBy).not.toBe('answered');
  expect(row?.durationMs).toBeLessThan(report.limits.wallMs + graceMs);
});

test('there are a hundred of them, and each kind of limit stops some', () => {
  expect(report.rows.length).toBeGreaterThan(100);
  const limits = new Set(report.rows.map(({ stoppedBy }) => stoppedBy));
  for (const limit of ['cpuMs', 'wallMs', 'heapBytes', 'stackBytes', 'outputBytes', 'hostCalls', 'stuck', 'error']) {
    expect(limits).toContain(limit);
  }
});

test('another Tenant lost nothing beside them, and no thread broke', () => {
  expect(report.beside).toMatchObject({ losses: [] });
  expect(report.beside.invocations).toBeGreaterThan(100);
  expect(report.faults).toBe(0);
});

test('of a mixed load with 5 % hostile programs, the good part loses nothing', async () => {
  const limits = { ...hostileLimits, cpuMs: 60, wallMs: 1_000 };
  const pool = openTransformPool({ limits, threads: 3, queueLimit: 100, waitMs: 10_000, headerPrefix: 'SVC' });
  await pool.ready();
  const loop = hostileModule('for (;;) {}');
  const hostile = Array.from({ length: 25 }, async (_, index) => {
    const tenantId = `hostile ${index % 3}`;
    const task = { tenantId, ownerId: `${index}`, kind: 'request', code: loop, argsJson: '{}' } as const;
    return pool.run({ ...task, configuration: async () => '{}' }).catch((error: Error) => error);
  });
  let invocations = 0;
  let lost = 0;
  // Four at a time, until they are nineteen times as many.
  const good = Array.from({ length: 4 }, async () => {
    while (invocations < 19 * hostile.length) {
      const traffic = await goodTraffic(pool, new Promise((resolve) => setTimeout(resolve, 100)));
      invocations += traffic.invocations;
      lost += traffic.lost;
    }
  });
  await Promise.all(good);
  expect((await Promise.all(hostile)).every((error) => error instanceof Error)).toBe(true);
  expect(lost / invocations).toBeLessThan(0.001);
  await pool.close();
});
