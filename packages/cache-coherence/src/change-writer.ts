import { randomUUID } from 'node:crypto';
import type { Database, Queryable } from '@sluice/database';
import type { Logger } from 'pino';
import { Counter, Histogram, type Registry } from 'prom-client';
import { acknowledgementsChannel, changesChannel, readAcknowledgement } from './announcement.ts';
import { type Confirmation, confirmChange } from './barrier.ts';
import type { Bus } from './bus.ts';
import { deleteChanges, findUnconfirmed, insertChanges } from './change.queries.ts';
import type { Change, RecordedChange } from './change.ts';
import type { CoherentCaches } from './coherent-caches.ts';
import { Mailboxes } from './mailboxes.ts';

export interface ChangeWriter {
  /** Call it in the transaction that makes the change. */
  record(tx: Queryable, tenantId: string, tags: readonly string[]): Promise<RecordedChange>;
  recordEach(tx: Queryable, tagsByTenant: ReadonlyMap<string, readonly string[]>): Promise<RecordedChange>;
  /**
   * An earlier change of these tags that some process may not have seen yet. For creating what was deleted before: a
   * creation has no tags of its own, so it awaits the barrier of that deletion.
   */
  findUnconfirmed(db: Queryable, tenantId: string, tags: readonly string[]): Promise<RecordedChange | undefined>;
  /**
   * Waits, after the commit, until no process serves the old state; only then report success.
   * @throws {ServiceError} `unavailable` if this could not be confirmed in time; the change remains.
   */
  barrier(change: RecordedChange): Promise<Confirmation>;
}

export interface ChangeWriterOptions {
  /** Reads the leases for a change, as part of the request that makes it. */
  db: Database;
  /** For outbox and mailboxes, which Tenants share, so that none of them delays them; default: `db`. */
  own?: Database;
  bus: Bus;
  log: Logger;
  metrics: Registry;
  stack: AsyncDisposableStack;
  caches?: CoherentCaches;
  /** Time limit of one confirmation. Default: ten seconds, far longer than a lease. */
  deadlineMs?: number;
  inPart?: InPart | undefined;
}

export type InPart = <T>(name: string, work: () => Promise<T>) => Promise<T>;

const outboxIntervalMs = 200;

export function openChangeWriter(options: ChangeWriterOptions): ChangeWriter {
  const { db, own = db, bus, log, metrics, stack, caches, inPart, deadlineMs = 10_000 } = options;
  const writerId = randomUUID();
  const listeners = new Map<string, (holderId: string) => void>();
  const counts = { posted: 0, deletedLeases: 0 };
  const mailboxes = new Mailboxes({ db: own, log, counts });
  const { waited, unconfirmed } = changeMetrics(metrics, counts);
  const confirmed = openOutbox({ db: own, log, stack });

  bus.subscribe(acknowledgementsChannel(writerId), (text) => {
    const acknowledgement = readAcknowledgement(text);
    if (acknowledgement) listeners.get(acknowledgement.changeId)?.(acknowledgement.holderId);
  });

  function announce(change: Change, onAcknowledged: (holderId: string) => void): () => void {
    listeners.set(change.id, onAcknowledged);
    if (caches) {
      caches.drop(change.tags);
      const holderId = caches.holderId();
      if (holderId !== undefined) onAcknowledged(holderId);
    }
    bus.publish(changesChannel, { id: change.id, tags: change.tags, writerId });
    return () => void listeners.delete(change.id);
  }

  return {
    record: (tx, tenantId, tags) => recordEach(tx, new Map([[tenantId, tags]])),
    recordEach,
    findUnconfirmed,
    async barrier(change) {
      try {
        const confirm = () => confirmChange(change, { db, mailboxes, announce, deadlineMs });
        const confirmation = await (inPart ? inPart('confirm change', confirm) : confirm());
        waited.observe(confirmation.waitedMs / 1000);
        confirmed.push(change);
        return confirmation;
      } catch (err) {
        unconfirmed.inc();
        log.error({ err, change_id: change.id }, 'a change could not be confirmed');
        throw err;
      }
    },
  };
}

async function recordEach(
  tx: Queryable,
  tagsByTenant: ReadonlyMap<string, readonly string[]>,
): Promise<RecordedChange> {
  const id = randomUUID();
  await insertChanges(tx, id, tagsByTenant);
  return { id, tenantIds: [...tagsByTenant.keys()], tags: [...tagsByTenant.values()].flat() };
}

/** Deletes confirmed changes in batches, because no caller waits for it. A row that stays is confirmed once more. */
function openOutbox({ db, log, stack }: Pick<ChangeWriterOptions, 'db' | 'log' | 'stack'>) {
  let confirmed: RecordedChange[] = [];
  const flush = async () => {
    if (confirmed.length === 0) return;
    const batch = confirmed;
    confirmed = [];
    await deleteChanges(db, batch).catch((err: unknown) => log.debug({ err }, 'confirmed changes stay in the outbox'));
  };
  let flushed = Promise.resolve();
  const timer = setInterval(() => {
    flushed = flushed.then(flush);
  }, outboxIntervalMs);
  stack.defer(async () => {
    clearInterval(timer);
    await flushed.then(flush);
  });
  return { push: (change: RecordedChange) => void confirmed.push(change) };
}

function changeMetrics(metrics: Registry, counts: { posted: number; deletedLeases: number }) {
  const registers = [metrics];
  new Counter({
    name: 'sluice_changes_posted_to_mailboxes_total',
    help: 'Changes of cached data that a process did not acknowledge in time. They were written to the mailbox that the process reads in Postgres',
    registers,
    collect() {
      this.reset();
      this.inc(counts.posted);
    },
  });
  new Counter({
    name: 'sluice_cache_leases_deleted_total',
    help: 'Cache leases that expired before their process acknowledged a change. The process hangs, is cut off, or has ended',
    registers,
    collect() {
      this.reset();
      this.inc(counts.deletedLeases);
    },
  });
  return {
    waited: new Histogram({
      name: 'sluice_change_confirmation_seconds',
      help: 'Time from the commit of a change until no process serves the old state',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 2.5, 5, 10],
      registers,
    }),
    unconfirmed: new Counter({
      name: 'sluice_changes_unconfirmed_total',
      help: 'Changes that were not confirmed by all processes in time. A change stays in the outbox until all processes have confirmed it',
      registers,
    }),
  };
}
