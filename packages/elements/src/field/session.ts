import type { Page } from './page.ts';
import { RequestError, request } from './requests.ts';

/** @returns the key of an authorized session, which never leaves this frame. @throws {RequestError} */
export async function openSession(key: string, page: Page, call: number): Promise<string> {
  const { session_key: sessionKey, nonce } = await request('POST', '/sessions', { key });
  const refusal = await page.authorize(call, String(nonce));
  if (refusal) throw new RequestError({ title: 'The page did not authorize the session', detail: refusal });
  return String(sessionKey);
}
