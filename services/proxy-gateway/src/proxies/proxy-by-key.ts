import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { ServiceError } from '@sluice/problems';
import type { Selection } from '../acting/acting.ts';
import { type Authenticating, authenticateCaller, requireInvocable } from './authenticate.ts';
import type { ProxyDefinition } from './definition.ts';
import { findByKey, proxyNotFound, type Selecting } from './find-proxy.ts';
import type { SentKeys } from './sent-keys.ts';
import { changedWhileWaiting, goOnWith } from './while-waiting.ts';

/** The Proxy that a Proxy key names, and the caller that an API key names. */
export class ProxyByKey implements Selection<ProxyDefinition> {
  readonly #keys: SentKeys;
  readonly #context: Selecting & Authenticating;

  constructor(keys: SentKeys, context: Selecting & Authenticating) {
    this.#keys = keys;
    this.#context = context;
  }

  find() {
    return this.findAgain();
  }

  findAgain(tx?: Queryable) {
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

  /** What concerns routes alone may change meanwhile. */
  goOnWith(found: ProxyDefinition, known: ProxyDefinition, isBeforeCode: boolean): ProxyDefinition | undefined {
    const { pathName, acceptKeyAs } = found;
    return goOnWith(found, { ...known, pathName, acceptKeyAs }, isBeforeCode);
  }

  changed(what: 'owner' | 'caller' | 'application'): ServiceError {
    return changedWhileWaiting(what);
  }
}
