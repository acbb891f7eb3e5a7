import { connectDatabase, type Database, type MailboxEntry } from '@sluice/database';
import { serviceLogger } from '@sluice/service-runtime';
import { HeldLease, type HeldLeaseOptions } from '../held-lease.ts';
import { postToMailbox } from '../lease.queries.ts';

export const silent = serviceLogger({ service: 'test', level: 'silent' }, { write: () => {} });

export interface WatchedLease {
  lease: HeldLease;
  /** `lost`, or the id of a change from the mailbox; and whether the cache could have served at that moment. */
  events: { what: string; valid: boolean }[];
}

export function openTestLease(
  databaseUrl: string,
  stack: AsyncDisposableStack,
  onChange: HeldLeaseOptions['onChange'] = () => {},
): WatchedLease {
  const db = connectDatabase(
    { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: 1, DATABASE_WAIT_MS: 3000 },
    { stack, onError: () => {}, statementTimeoutMs: 1000 },
  );
  const events: WatchedLease['events'] = [];
  const note = (what: string) => events.push({ what, valid: lease.isValid() });
  const lease: HeldLease = new HeldLease({
    db,
    service: 'test',
    log: silent,
    onChange(change) {
      note(change.id);
      onChange(change);
    },
    onLoss: () => note('lost'),
  });
  stack.defer(() => lease.close());
  return { lease, events };
}

export function listRows(db: Database) {
  return db
    .selectFrom('cache_leases')
    .select(['holder_id', 'service', 'expires_at', 'mailbox'])
    .orderBy('expires_at')
    .execute();
}

export async function post(db: Database, lease: HeldLease, ...ids: string[]): Promise<void> {
  const entries: MailboxEntry[] = ids.map((id) => ({ id, tags: [`tag-of-${id}`] }));
  await postToMailbox(db, idOf(lease), entries);
}

export async function mailOf(db: Database, lease: HeldLease): Promise<string[]> {
  const rows = await listRows(db);
  return rows.find((row) => row.holder_id === lease.holderId)?.mailbox.map(({ id }) => id) ?? [];
}

export function idOf(lease: HeldLease): string {
  if (lease.holderId === undefined) throw new Error('not registered');
  return lease.holderId;
}
