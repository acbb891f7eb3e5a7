import type { Generated, JSONColumnType } from 'kysely';

export interface MailboxEntry {
  id: string;
  tags: string[];
}

/** One row for each caching process, which may serve from its caches until `expires_at`. */
export interface CacheLeasesTable {
  /** New at each registration, because an expired lease must never be used again. */
  holder_id: string;
  service: string;
  expires_at: string;
  /** Changes that the holder did not acknowledge in time and gets at its next renewal. */
  mailbox: JSONColumnType<MailboxEntry[]>;
  /** The newest migration that the holder knows; null: it is of a version before this column. */
  knows: Generated<string | null>;
}
