import type { HttpAnswer, HttpClient } from '../cluster/http-client.ts';
import { NoAnswer } from '../cluster/http-client.ts';
import { type KeyChange, readConfirmation } from './history.ts';

/** More than the service takes to give up. */
const changeTimeoutMs = 13_000;

export interface ChangeRequest {
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
  const answer = await attempt(() => http.send({ ...request, timeoutMs: changeTimeoutMs }));
  const endedAt = performance.now();
  const detail = typeof answer === 'string' ? answer : String(answer.status);
  const noted: KeyChange = { application, number, startedAt, endedAt, outcome: 'indeterminate', detail };
  if (typeof answer === 'string' || answer.status !== due) return { noted };
  noted.outcome = 'confirmed';
  noted.confirmation = readConfirmation(answer.headers['svc-revocation']);
  return { noted, body: answer.body };
}

/** The answer, or why there is none. */
export async function attempt(send: () => Promise<HttpAnswer>): Promise<HttpAnswer | string> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof NoAnswer) return error.code;
    throw error;
  }
}
