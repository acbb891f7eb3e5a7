import type { HttpClient, HttpRequest } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { type KeyChange, type KeyNumber, readConfirmation, type SingleKey } from './history.ts';

export interface ApplicationView {
  index: number;
  id: string;
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

/** `Date` leaves out what is less than a millisecond. */
const tickMs = 1;

const sessionLifeMs = 3600_000;

/** Adds keys beside the first one of an Application, whose key is never regenerated, and deletes them. */
export function singleKeysOf(http: HttpClient, key: string, grants: object) {
  const noted: SingleKey[] = [];
  const changes: KeyChange[] = [];
  return {
    noted,
    /** Of additions without a success, too. */
    changes,
    /** One at a time for one Application. @returns undefined where there was no success. */
    async add(application: ApplicationView, { url }: Node, lifeMs: number): Promise<SingleKey | undefined> {
      const number = application.keys.size;
      const beginsAt = performance.now();
      const expiresAt = new Date(Date.now() + lifeMs).toISOString();
      const expiredAt = performance.now() + lifeMs;
      const request = { method: 'POST', url: `${url}/applications/${application.id}/keys`, key, due: 201 };
      const change = { application: application.index, number };
      const { noted: addition, body } = await sendChange(http, { ...request, body: { expires_at: expiresAt } }, change);
      changes.push(addition);
      if (!body) return undefined;
      const given = JSON.parse(body);
      const expiry = { expiresAt: beginsAt + lifeMs - tickMs, expiredAt };
      const single: SingleKey = { ...change, id: given.id, givenAt: addition.endedAt, ...expiry };
      application.keys.set(number, given.key);
      application.newest = number;
      noted.push(single);
      return single;
    },
    async delete({ id, index }: ApplicationView, single: SingleKey, { url }: Node): Promise<KeyChange> {
      const { number } = single;
      const request = { method: 'DELETE', url: `${url}/applications/${id}/keys/${single.id}`, key, due: 204 };
      single.deletionSentAt = performance.now();
      const { noted: deletion } = await sendChange(http, request, { application: index, number });
      if (deletion.outcome === 'confirmed') single.deletedAt = deletion.endedAt;
      changes.push(deletion);
      return deletion;
    },
    /** Replaces the key by a session that it authorizes, which ends when the key is deleted or expires. */
    async replaceBySession(application: ApplicationView, single: SingleKey, { url }: Node): Promise<void> {
      const maker = { name: 'Maker', type: 'public', permissions: ['token:create'] };
      const post = <T>(path: string, body: object, apiKey: string | undefined) =>
        http.obtain<T>({ method: 'POST', url: url + path, key: apiKey, body });
      const { key: makerKey } = await post<{ key: string }>('/applications', maker, key);
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
  if (status !== due) {
    const { 0: why = '' } = /"detail":"[^"]*"/.exec(body) ?? [];
    return { noted: { ...noted, detail: `${detail} ${why}` } };
  }
  noted.outcome = 'confirmed';
  noted.confirmation = readConfirmation(headers['svc-revocation']);
  return { noted, body };
}
