import { join } from 'node:path';
import { migrateDatabase, repositoryRoot } from '@sluice/local/parts';
import { connectStore } from '../under-load/audit-log.ts';
import { durationMs } from '../under-load/count.ts';
import type { Seen } from '../under-load/judgement.ts';
import { type Found, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';
import { makeNextVersion } from './next-version.ts';
import { findUnexpected, restartEach } from './processes.fault.ts';

export const twoVersions = underLoad(
  'two-versions',
  'the next version migrates behind a long transaction, takes over, and is taken back: no invocation and no write fails, none waits for the migration',
  {
    mostFailed: 0,
    environment: { SHUTDOWN_DRAIN_MS: '1500' },
    async disturb(world) {
      const next = join(world.directory, 'next-version');
      await makeNextVersion(next);
      await using stack = new AsyncDisposableStack();
      const transaction = await holdTables(world, stack);
      const heldFrom = performance.now();
      const migrating = Promise.all(Array.from({ length: 3 }, () => migrate(world, next)));
      await Promise.race([transaction.untilWaitedFor(), migrating]);
      await world.pause(holdMs);
      const heldUntil = performance.now();
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
          ...upgraded.failures,
          ...takenBack.failures,
        ],
        async after(seen) {
          const waitedMs = longestBetween(heldFrom, heldUntil, seen);
          return {
            figures: [['longest wait while the transaction lasted', `${waitedMs.toFixed(0)} ms`]],
            failures: [
              ...(await findUnexpected(seen)).failures,
              ...(waitedMs > mostMs ? [`a request waited ${waitedMs.toFixed(0)} ms, as if behind the migration`] : []),
            ],
          };
        },
      };
    },
  },
);

/** How long the transaction lasts when the migration is seen to wait for it. */
const holdMs = 5000;
/** A migration asks for less than a second; one that did not give up would make others wait for `holdMs`. */
const mostMs = 4000;

function migrate({ stores, signal, watchdog }: World, root: string): Promise<string> {
  return migrateDatabase(stores.databaseUrl, { signal, watchdog }, root);
}

/** A transaction that has read what the migration changes, such as that of a backup. */
async function holdTables(world: World, stack: AsyncDisposableStack) {
  const holder = await connectStore(world, stack);
  await holder.query('begin');
  await holder.query('select (select count(*) from applications), (select count(*) from tokens)');
  return {
    async untilWaitedFor() {
      for (const until = performance.now() + 30_000; performance.now() < until; ) {
        const rows = await world.query(
          `select pid from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%alter table%'`,
        );
        if (rows.length > 0) return;
        await world.pause(20);
      }
      throw new Error('The migration does not wait for the transaction');
    },
    end: () => holder.query('commit'),
  };
}

/** One process of each service at a time. */
async function restartAll({ of }: World, root: string): Promise<Found> {
  const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker'] as const;
  const all = await Promise.all(services.map((service) => restartEach(of(service), root)));
  return { figures: all.flatMap(({ figures }) => figures), failures: all.flatMap(({ failures }) => failures) };
}

const prefixed = (prefix: string, { figures }: Found): [string, string][] =>
  figures.map(([name, value]) => [prefix + name, value]);

/** Of all that was sent in this time: how long the slowest took. */
function longestBetween(from: number, until: number, { history }: Seen): number {
  const sent = [...history.invocations, ...history.regenerations].filter(
    ({ startedAt }) => startedAt >= from && startedAt < until,
  );
  return Math.max(0, ...sent.map(durationMs));
}
