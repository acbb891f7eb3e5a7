import type { JSONColumnType } from 'kysely';

/** A change that waits in a lease for its holder. */
export interface MailboxEntry {
  id: string;
  tags: string[];
}

/** One row for each process that caches: until `expires_at` it may serve from its caches. */
export interface CacheLeasesTable {
  /** Drawn anew at each registration, so that a lease which ran out is never taken up again. */
  holder_id: string;
  service: string;
  expires_at: string;
  /** Changes that the holder did not acknowledge in time; it finds them when it renews. */
  mailbox: JSONColumnType<MailboxEntry[]>;
}
