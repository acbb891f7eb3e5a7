/** `fetch` of the Fetch standard, for reactors. The host sends the request, and follows no redirect. */
import { use } from './body.js';
import { call } from './calls.js';
import { host, stringify } from './host.js';
import { Request } from './request.js';
import { hasNullBody, isRedirect, responseFrom } from './response.js';

/** @typedef {import('./abort.js').AbortSignal} AbortSignal */
/** @typedef {import('./body.js').Content} Content */
/** @typedef {{ status: number, statusText: string, headers: [string, string][] }} Head */

const { abortFetch, fetch: send, readFetched } = host;

/** @param {unknown} input @param {import('./request.js').RequestInit} [init] */
export async function fetch(input, init) {
  const request = new Request(input, init);
  const { url, method, signal, redirect } = request;
  signal.throwIfAborted();
  const source = use(request);
  const content = typeof source === 'function' ? await source() : source;
  const json = stringify({ url: withoutFragment(url), method, headers: [...request.headers], ...content });
  const sent = call((id) => send?.(id, json));
  const head = /** @type {Head} */ (await unlessAborted(sent, sent.id, signal));
  if (redirect === 'error' && isRedirect(head.status)) {
    abortFetch?.(sent.id);
    throw failed(new Error('unexpected redirect'));
  }
  const hasBody = method !== 'HEAD' && !hasNullBody(head.status);
  const read = async () => {
    signal.throwIfAborted();
    const reading = call((id) => readFetched?.(id, sent.id));
    return /** @type {Content} */ (await unlessAborted(reading, sent.id, signal, 'terminated'));
  };
  return responseFrom({ ...head, url: withoutFragment(url), source: hasBody ? read : null });
}

/**
 * @param {ReturnType<typeof call>} one
 * @param {number} id Of the call of `fetch` to which it belongs
 * @param {AbortSignal} signal
 * @param {string} [message]
 */
async function unlessAborted({ answer, settle }, id, signal, message = 'fetch failed') {
  const abort = () => {
    abortFetch?.(id);
    settle.reject(signal.reason);
  };
  signal.addEventListener('abort', abort);
  try {
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : failed(error, message);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** @param {unknown} cause @param {string} [message] */
const failed = (cause, message = 'fetch failed') => new TypeError(message, { cause });

/** @param {string} url */
const withoutFragment = (url) => url.split('#', 1)[0] ?? url;
