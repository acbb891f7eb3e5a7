import { join } from 'node:path';
import { migrateDatabase, repositoryRoot } from '@sluice/local/parts';
import { makeNextVersion } from '../cluster/next-version.ts';
import { connectStore } from '../under-load/audit-log.ts';
import type { Seen } from '../under-load/judgement.ts';
import { restartEach, unexpectedAnswers } from '../under-load/restart-each.ts';
import { type Disturbance, runUnderLoad } from '../under-load/run-under-load.ts';
import type { World } from '../under-load/world.ts';
import type { FaultTest } from './fault-test.ts';

export const twoVersions: FaultTest = {
  name: 'two-versions',
  description:
    'the next version migrates behind a long transaction, takes over, and is taken back: no invocation and no write fails, none waits for the migration',
  async run(context) {
    const next = join(context.directory, 'next-version');
    let heldFrom = 0;
    let heldUntil = 0;
    return await runUnderLoad(context, {
      mostFailed: 0,
      environment: { SHUTDOWN_DRAIN_MS: '1500' },
      async disturb(world) {
        await makeNextVersion(next);
        await using stack = new AsyncDisposableStack();
        const transaction = await holdTables(world, stack);
        heldFrom = performance.now();
        const migrating = Promise.all(Array.from({ length: 3 }, () => migrate(world, next)));
        await Promise.race([transaction.untilWaitedFor(), migrating]);
        await world.pause(holdMs);
        heldUntil = performance.now();
        await transaction.end();
        const said = await migrating;
        const upgraded = await restartAll(world, next);
        const takenBack = await restartAll(world, repositoryRoot);
        const applied = said.filter((text) => text.includes('9999-next-version')).length;
        return {
          figures: [
            ['of three migrations applied', String(applied)],
            ...prefixed('upgrade: ', upgraded),
            ...prefixed('rollback: ', takenBack),
          ],
          failures: [
            ...(applied === 1 ? [] : [`${applied} of three migrations were applied: ${said.join('; ')}`]),
            ...(upgraded.failures ?? []),
            ...(takenBack.failures ?? []),
          ],
        };
      },
      after: async (_world, seen) => {
        const waitedMs = longestBetween(heldFrom, heldUntil, seen);
        return {
          figures: [['longest wait while the transaction lasted', `${waitedMs.toFixed(0)} ms`]],
          failures: [
            ...unexpectedAnswers(seen),
            ...(waitedMs > mostMs ? [`a request waited ${waitedMs.toFixed(0)} ms, as if behind the migration`] : []),
          ],
        };
      },
    });
  },
};

/** How long the transaction lasts when the migration is seen to wait for it. */
const holdMs = 5000;
/** A migration asks for less than a second; one that did not give up would make others wait for `holdMs`. */
const mostMs = 4000;

function migrate({ site }: World, root: string): Promise<string> {
  const { stores, signal, watchdog } = site;
  return migrateDatabase(stores.databaseUrl, { signal, watchdog }, root);
}

/** A transaction that has read what the migration changes, such as that of a backup. */
async function holdTables({ site, pause }: World, stack: AsyncDisposableStack) {
  const holder = await connectStore(site, stack);
  const observer = await connectStore(site, stack);
  await holder.query('begin');
  await holder.query('select (select count(*) from applications), (select count(*) from tokens)');
  return {
    async untilWaitedFor() {
      for (const until = performance.now() + 30_000; performance.now() < until; ) {
        const { rows } = await observer.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%alter table%'`,
        );
        if (rows.length > 0) return;
        await pause(20);
      }
      throw new Error('The migration does not wait for the transaction');
    },
    end: () => holder.query('commit'),
  };
}

/** One process of each service at a time. */
async function restartAll({ of }: World, root: string): Promise<Disturbance> {
  const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker'] as const;
  const all = await Promise.all(services.map((service) => restartEach(of(service), root)));
  return {
    figures: all.flatMap(({ figures = [] }) => figures),
    failures: all.flatMap(({ failures = [] }) => failures),
  };
}

const prefixed = (prefix: string, { figures = [] }: Disturbance): [string, string][] =>
  figures.map(([name, value]) => [prefix + name, value]);

/** Of all that was sent in this time: how long the slowest took. */
function longestBetween(from: number, until: number, { history }: Seen): number {
  const sent = [...history.invocations, ...history.regenerations].filter(
    ({ startedAt }) => startedAt >= from && startedAt < until,
  );
  return Math.max(0, ...sent.map(({ startedAt, endedAt }) => endedAt - startedAt));
}
