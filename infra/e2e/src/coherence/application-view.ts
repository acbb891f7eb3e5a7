import type { KeyNumber } from './history.ts';

/** What the clients know of an Application. */
export interface ApplicationView {
  index: number;
  id: string;
  /** The keys that were given out, by number. */
  keys: Map<KeyNumber, string>;
  /** Those of them that are not the newest, oldest first. */
  revoked: KeyNumber[];
  newest: KeyNumber;
  regenerations: number;
}

/** The first key works again alone, once the newest has been deleted or has expired. */
export function forgetNewest(application: ApplicationView): void {
  application.revoked.push(application.newest);
  application.newest = 0;
}
