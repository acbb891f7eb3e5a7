import type { HttpClient } from '../cluster/http-client.ts';
import type { Node } from '../cluster/node.ts';
import type { ApplicationView } from './application-view.ts';
import type { KeyChange, SingleKey } from './history.ts';
import { sendChange } from './key-changes.ts';

/** Adds keys beside the first one of an Application, whose key is never regenerated, and deletes them. */
export interface SingleKeys {
  noted: readonly SingleKey[];
  /** Of additions without a success, too. */
  changes: readonly KeyChange[];
  /** One at a time for one Application. @returns undefined where there was no success. */
  add(application: ApplicationView, management: Node, lifeMs: number): Promise<SingleKey | undefined>;
  /** Once for a key. */
  delete(application: ApplicationView, key: SingleKey, management: Node): Promise<KeyChange>;
}

/** `Date` leaves out what is less than a millisecond. */
const tickMs = 1;

export function createSingleKeys(http: HttpClient, headers: Record<string, string>): SingleKeys {
  const noted: SingleKey[] = [];
  const changes: KeyChange[] = [];
  return {
    noted,
    changes,
    async add(application, { url }, lifeMs) {
      const number = application.keys.size;
      const beginsAt = performance.now();
      const expiresAt = new Date(Date.now() + lifeMs).toISOString();
      const expiredAt = performance.now() + lifeMs;
      const request = { method: 'POST', url: `${url}/applications/${application.id}/keys`, headers, due: 201 };
      const sent = { ...request, body: JSON.stringify({ expires_at: expiresAt }) };
      const { noted: addition, body } = await sendChange(http, sent, { application: application.index, number });
      changes.push(addition);
      if (!body) return undefined;
      const { id, key } = JSON.parse(body);
      const added = { application: application.index, number, id, givenAt: addition.endedAt };
      const single: SingleKey = { ...added, expiresAt: beginsAt + lifeMs - tickMs, expiredAt };
      application.keys.set(number, key);
      application.newest = number;
      noted.push(single);
      return single;
    },
    async delete(application, single, { url }) {
      const { number, id } = single;
      const request = { method: 'DELETE', url: `${url}/applications/${application.id}/keys/${id}`, headers, due: 204 };
      single.deletionSentAt = performance.now();
      const { noted: deletion } = await sendChange(http, request, { application: application.index, number });
      if (deletion.outcome === 'confirmed') single.deletedAt = deletion.endedAt;
      changes.push(deletion);
      return deletion;
    },
  };
}
