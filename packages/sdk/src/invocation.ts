import { errorIn, parseObject } from './send.ts';
import type { Settings } from './settings.ts';

/** Requests through a Proxy, by its key or by its route. */
export interface ProxyClient {
  /**
   * As the global `fetch`, through the Proxy: `fetch('/charges?expand=1', { method: 'POST', body })`. Of a whole URL
   * only path and query are used, because the Proxy determines the destination; so this can serve a client of the
   * destination as its `fetch`. The request is sent once; a redirect is returned as it is.
   *
   * The destination's answer has the header `SVC-PROXY-DESTINATION-STATUS`. Without it the answer is a refusal by the
   * service, with a `proxy_error`, or made by a request transform; this resolves with both, as `fetch` resolves with any
   * answer. In code of your own take `send`, which rejects with a refusal.
   */
  fetch: typeof fetch;
  /**
   * Like `fetch` above, but rejects with a refusal, so that it cannot be mistaken for the destination's response. The
   * destination may have acted before. Any response of the destination or of a transform resolves, whatever its status.
   * @throws {SluiceError} with the reason why the service refused, or why the destination could not be reached.
   */
  send: typeof fetch;
}

/** @throws {TypeError} for a malformed key, which the message does not repeat. */
export function proxyClient(proxyKey: string, settings: Settings): ProxyClient {
  if (!/^[\x21-\x7e]+$/.test(proxyKey)) throw new TypeError('The key of a Proxy has no blanks');
  return clientOf({ path: '/proxy', proxyKey }, settings);
}

/** @throws {TypeError} for what is no `path_name`. */
export function routeClient(pathName: string, settings: Settings): ProxyClient {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(pathName)) {
    throw new TypeError('A route is named by the path_name of its Proxy: lower-case letters, digits and dashes');
  }
  return clientOf({ path: `/routes/${pathName}` }, settings);
}

interface Way {
  /** Below the base URL. */
  path: string;
  proxyKey?: string;
}

function clientOf({ path, proxyKey }: Way, settings: Settings): ProxyClient {
  const { baseUrl, docsUrl, headerPrefix, fetch } = settings;
  const invoke: typeof fetch = async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const headers = new Headers(init?.headers ?? request?.headers);
    for (const [name, value] of settings.headers()) headers.set(name, value);
    if (proxyKey !== undefined) headers.set(`${headerPrefix}-PROXY-KEY`, proxyKey);
    const url = targetOf(request?.url ?? String(input), `${baseUrl}${path}`);
    if (!request) return fetch(url, { ...init, headers, redirect: 'manual' });
    return fetch(new Request(url, request), { ...init, headers, redirect: 'manual' });
  };
  return {
    fetch: invoke,
    send: async (input, init) => {
      const response = await invoke(input, init);
      if (response.headers.has(`${headerPrefix}-PROXY-DESTINATION-STATUS`)) return response;
      const { proxy_error: problem } = parseObject(await response.clone().text());
      if (typeof problem !== 'object' || problem === null) return response;
      await response.body?.cancel();
      // The path is omitted, because it may contain a value.
      const operation = `${init?.method ?? (input instanceof Request ? input.method : 'GET')} ${path}`;
      throw errorIn(problem as Record<string, unknown>, { operation, response, headerPrefix, docsUrl });
    },
  };
}

/** @throws {TypeError} if the path would leave the Proxy, because the key would then reach an operation of the API. */
function targetOf(input: string, base: string): string {
  const suffix = /^[a-z][a-z0-9+.-]*:\/\//i.test(input) ? pathOf(new URL(input)) : input;
  const url = new URL(base + (/^(?:[/?]|$)/.test(suffix) ? suffix : `/${suffix}`));
  const { pathname } = new URL(base);
  if (url.pathname !== pathname && !url.pathname.startsWith(`${pathname}/`)) {
    throw new TypeError('The path must not lead out of the Proxy by ".."');
  }
  url.hash = '';
  return url.href;
}

function pathOf({ pathname, search }: URL): string {
  return (pathname === '/' ? '' : pathname) + search;
}
