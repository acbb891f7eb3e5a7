import type { HttpClient } from '@sluice/testing';
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
  /** With the management key. */
  headers: Record<string, string>;
  /** Of the sessions. */
  grants: object;
}

export function createSingleKeys({ http, headers, grants }: SingleKeyOptions): SingleKeys {
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
    async replaceBySession(application, single, { url }) {
      const post = async (path: string, body: object, key = headers['svc-api-key']) => {
        const request = { method: 'POST', url: url + path, headers: { ...headers, 'svc-api-key': key ?? '' } };
        const answer = await http.send({ ...request, body: JSON.stringify(body), timeoutMs: 20_000 });
        if (answer.status > 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
        return answer.body;
      };
      const maker = { name: 'Maker', type: 'public', permissions: ['token:create'] };
      const { key: makerKey } = JSON.parse(await post('/applications', maker));
      const { nonce, session_key } = JSON.parse(await post('/sessions', {}, makerKey));
      const expires_at = new Date(Date.now() + sessionLifeMs).toISOString();
      await post('/sessions/authorize', { nonce, expires_at, ...grants }, application.keys.get(single.number));
      application.keys.set(single.number, session_key);
      single.givenAt = performance.now();
    },
  };
}

/** More than the service takes to give up. */
const changeTimeoutMs = 13_000;

interface ChangeRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** The status of a success. */
  due: number;
}

/** Sends a change, and notes what became of it. The body is that of a success. */
export async function sendChange(
  http: HttpClient,
  { due, ...request }: ChangeRequest,
  { application, number }: Pick<KeyChange, 'application' | 'number'>,
): Promise<{ noted: KeyChange; body?: string }> {
  const startedAt = performance.now();
  const { status, detail, headers, body } = await http.send({ ...request, timeoutMs: changeTimeoutMs });
  const endedAt = performance.now();
  const noted: KeyChange = { application, number, startedAt, endedAt, outcome: 'indeterminate', detail };
  if (status !== due) return { noted };
  noted.outcome = 'confirmed';
  noted.confirmation = readConfirmation(headers['svc-revocation']);
  return { noted, body };
}
