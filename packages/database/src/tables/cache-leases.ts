import type { JSONColumnType } from 'kysely';

/** A change that waits in the lease of a holder. */
export interface MailboxEntry {
  id: string;
  tags: string[];
}

/** One row for each process that caches: until `expires_at` it may serve from its caches. */
export interface CacheLeasesTable {
  /** New at each registration, so that a lease that ran out is never used again. */
  holder_id: string;
  service: string;
  expires_at: string;
  /** Changes that the holder did not acknowledge in time and gets at its next renewal. */
  mailbox: JSONColumnType<MailboxEntry[]>;
}
