import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Selection } from '../acting/acting.ts';
import { type Authenticating, authenticateCaller, requireInvocable } from './authenticate.ts';
import type { ProxyDefinition } from './definition.ts';
import { findByKey, proxyNotFound, type Selecting } from './find-proxy.ts';
import type { SentKeys } from './sent-keys.ts';

const waited = 'while the request waited; try again';

/** The Proxy that a Proxy key names, and the caller that an API key names. */
export class ProxyByKey implements Selection<ProxyDefinition> {
  readonly #keys: SentKeys;
  readonly #context: Selecting & Authenticating;

  constructor(keys: SentKeys, context: Selecting & Authenticating) {
    this.#keys = keys;
    this.#context = context;
  }

  find(tx?: Queryable) {
    return findByKey(this.#keys, this.#context, tx);
  }

  notFound(): ServiceError {
    return proxyNotFound();
  }

  /** @throws {ServiceError} 401, and as {@link requireInvocable}. */
  async authenticate(proxy: ProxyDefinition): Promise<Caller> {
    const caller = await authenticateCaller(this.#keys, this.#context);
    requireInvocable(proxy, caller);
    return caller;
  }

  /** A changed configuration matters only to code, which gets it. */
  goOnWith(found: ProxyDefinition, known: ProxyDefinition, isBeforeCode: boolean): ProxyDefinition | undefined {
    const { configurationCiphertext } = found;
    return isDeepStrictEqual(found, isBeforeCode ? known : { ...known, configurationCiphertext }) ? found : undefined;
  }

  changed(what: 'owner' | 'caller' | 'application'): ServiceError {
    const detail = `The ${what === 'owner' ? 'Proxy' : 'key'} was changed ${waited}`;
    return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
  }
}
