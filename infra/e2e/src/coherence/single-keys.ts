import type { HttpClient, HttpRequest } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { type KeyChange, type KeyNumber, readConfirmation, type SingleKey } from './history.ts';

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

/** Adds keys beside the first one of an Application, whose key is never regenerated, and deletes them. */
export interface SingleKeys {
  noted: readonly SingleKey[];
  /** Of additions without a success, too. */
  changes: readonly KeyChange[];
  /** One at a time for one Application. @returns undefined where there was no success. */
  add(application: ApplicationView, management: Node, lifeMs: number): Promise<SingleKey | undefined>;
  /** Once for a key. */
  delete(application: ApplicationView, key: SingleKey, management: Node): Promise<KeyChange>;
  /** Puts a session in the place of the key that authorizes it: it is the key's until the key is deleted or expires. */
  replaceBySession(application: ApplicationView, key: SingleKey, management: Node): Promise<void>;
}

/** `Date` leaves out what is less than a millisecond. */
const tickMs = 1;

/** Of a session: far later than its key. */
const sessionLifeMs = 3600_000;

interface SingleKeyOptions {
  http: HttpClient;
  managementKey: string;
  /** Of the sessions. */
  grants: object;
}

export function createSingleKeys({ http, managementKey, grants }: SingleKeyOptions): SingleKeys {
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
      const path = `/applications/${application.id}/keys`;
      const body = { expires_at: expiresAt };
      const request = { method: 'POST', url: `${url}${path}`, key: managementKey, body, due: 201 };
      const { noted: addition, body: given } = await sendChange(http, request, {
        application: application.index,
        number,
      });
      changes.push(addition);
      if (!given) return undefined;
      const { id, key } = JSON.parse(given);
      const added = { application: application.index, number, id, givenAt: addition.endedAt };
      const single: SingleKey = { ...added, expiresAt: beginsAt + lifeMs - tickMs, expiredAt };
      application.keys.set(number, key);
      application.newest = number;
      noted.push(single);
      return single;
    },
    async delete(application, single, { url }) {
      const { number, id } = single;
      const path = `/applications/${application.id}/keys/${id}`;
      const request = { method: 'DELETE', url: `${url}${path}`, key: managementKey, due: 204 };
      single.deletionSentAt = performance.now();
      const { noted: deletion } = await sendChange(http, request, { application: application.index, number });
      if (deletion.outcome === 'confirmed') single.deletedAt = deletion.endedAt;
      changes.push(deletion);
      return deletion;
    },
    async replaceBySession(application, single, { url }) {
      const maker = { name: 'Maker', type: 'public', permissions: ['token:create'] };
      const post = <T>(path: string, body: object, key: string | undefined) =>
        http.obtain<T>({ method: 'POST', url: url + path, key, body });
      const { key: makerKey } = await post<{ key: string }>('/applications', maker, managementKey);
      const made = await post<{ nonce: string; session_key: string }>('/sessions', {}, makerKey);
      const expires_at = new Date(Date.now() + sessionLifeMs).toISOString();
      const authorization = { nonce: made.nonce, expires_at, ...grants };
      await post('/sessions/authorize', authorization, application.keys.get(single.number));
      application.keys.set(single.number, made.session_key);
      single.givenAt = performance.now();
    },
  };
}

/** More than the service takes to give up. */
const changeTimeoutMs = 13_000;

/** `due` is the status of a success. */
type ChangeRequest = HttpRequest & { due: number };

/** Sends a change, and notes what became of it. The body is that of a success. */
export async function sendChange(
  http: HttpClient,
  { due, ...request }: ChangeRequest,
  { application, number }: Pick<KeyChange, 'application' | 'number'>,
): Promise<{ noted: KeyChange; body?: string }> {
  const { status, detail, headers, body, startedAt, endedAt } = await http.send({
    ...request,
    timeoutMs: changeTimeoutMs,
  });
  const noted: KeyChange = { application, number, startedAt, endedAt, outcome: 'indeterminate', detail };
  if (status !== due) return { noted };
  noted.outcome = 'confirmed';
  noted.confirmation = readConfirmation(headers['svc-revocation']);
  return { noted, body };
}
