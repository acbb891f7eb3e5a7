import { RequestError, request } from "./requests.js";
export async function openSession(key, page, call) {
    const { session_key: sessionKey, nonce } = await request('POST', '/sessions', { key });
    const refusal = await page.authorize(call, String(nonce));
    if (refusal)
        throw new RequestError({ title: 'The page did not authorize the session', detail: refusal });
    return String(sessionKey);
}
