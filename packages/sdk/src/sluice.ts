import { Resources } from './generated/operations.gen.ts';
import { type ProxyClient, proxyClient, routeClient } from './invocation.ts';
import { methodsOf } from './operation.ts';
import { readOptions, type Settings, type SluiceOptions } from './settings.ts';

/**
 * A client of the API: a method for each operation, and `proxy()` to invoke Proxies.
 *
 * ```ts
 * const sluice = new Sluice({ baseUrl: 'https://sluice.example.com', apiKey });
 * const token = await sluice.tokens.create({ type: 'card', data: { number: '4242424242424242' } });
 * const answer = await sluice.proxy(proxyKey).send('/charges', {
 *   method: 'POST',
 *   headers: { 'Content-Type': 'application/json' },
 *   body: JSON.stringify({ card: `{{ ${token.id} | json: '$.number' }}` }),
 * });
 * ```
 */
export class Sluice extends Resources {
  readonly #settings: Settings;

  /** @throws {TypeError} that names the wrong option. */
  constructor(options: SluiceOptions) {
    super();
    this.#settings = readOptions(options);
    Object.assign(this, methodsOf(this.#settings));
  }

  /** A client that sends requests through the Proxy with this `key`. */
  proxy(key: string): ProxyClient {
    return proxyClient(key, this.#settings);
  }

  /** A client that sends requests through the route with this `path_name`, so that no key of a Proxy is needed. */
  route(pathName: string): ProxyClient {
    return routeClient(pathName, this.#settings);
  }
}
