import { join } from 'node:path';
import { migrateDatabase, repositoryRoot } from '@sluice/local/parts';
import { connectPostgres } from '@sluice/testing';
import { isWaitedFor } from '../under-load/audit-log.ts';
import { durationMs } from '../under-load/count.ts';
import type { Seen } from '../under-load/judgement.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';
import { writeNextVersion } from './next-version.ts';
import { failForUnexpected, restartEach, unnoticed } from './processes.fault.ts';

export const twoVersions = underLoad(
  'two-versions',
  'the next version migrates behind a long transaction, takes over, and is taken back: no invocation and no write fails, none waits for the migration',
  {
    ...unnoticed,
    async disturb(world) {
      const { report } = world;
      const next = join(world.directory, 'next-version');
      await writeNextVersion(next);
      // A transaction that has read what the migration changes, such as that of a backup
      await using holder = await connectPostgres(world.stores.databaseUrl);
      await holder.query('begin');
      await holder.query('select (select count(*) from applications), (select count(*) from tokens)');
      const heldFrom = performance.now();
      const migrating = Promise.all(Array.from({ length: 3 }, () => migrate(world, next)));
      const isHeld = await Promise.race([isWaitedFor(world, 'alter table', 30_000), migrating]);
      if (!isHeld) throw new Error('The migration does not wait for the transaction');
      await world.pause(holdMs);
      const heldUntil = performance.now();
      await holder.query('commit');
      const said = await migrating;
      const applied = said.filter((text) => text.includes('9999-next-version')).length;
      report.figure('of three migrations applied', applied);
      report.failIf(applied !== 1, `${applied} of three migrations were applied: ${said.join('; ')}`);
      await restartAll(world, next);
      await restartAll(world, repositoryRoot);
      world.judges.push((seen) => {
        const waitedMs = longestBetween(heldFrom, heldUntil, seen);
        report.figure('longest wait while the transaction lasted', `${waitedMs.toFixed(0)} ms`);
        report.failIf(waitedMs > mostMs, `a request waited ${waitedMs.toFixed(0)} ms, as if behind the migration`);
        failForUnexpected(world, seen);
      });
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

async function restartAll(world: World, root: string): Promise<void> {
  const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker'] as const;
  await Promise.all(services.map((service) => restartEach(world, world.of(service), root)));
}

/** Of all that was sent in this time: how long the slowest took. */
function longestBetween(from: number, until: number, { history }: Seen): number {
  const sent = [...history.invocations, ...history.regenerations].filter(
    ({ startedAt }) => startedAt >= from && startedAt < until,
  );
  return Math.max(0, ...sent.map(durationMs));
}
