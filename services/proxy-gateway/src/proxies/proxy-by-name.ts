import { holds } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Selection } from '../acting/acting.ts';
import { type Authenticating, authenticateCaller, callerOf, requireInvocable } from './authenticate.ts';
import type { ProxyDefinition } from './definition.ts';
import { findByName, isPathName, type Selecting } from './find-proxy.ts';
import type { SentRoute } from './route-keys.ts';
import type { SentKeys } from './sent-keys.ts';
import { changedWhileWaiting, goOnWith } from './while-waiting.ts';

interface Chosen {
  proxy: ProxyDefinition;
  caller: Caller;
}

/** The Proxy of a route: the key comes first, and the name is looked for in its Tenant. */
export class ProxyByName implements Selection<ProxyDefinition> {
  readonly #route: SentRoute;
  readonly #keys: SentKeys;
  readonly #context: Selecting & Authenticating;
  #chosen: Chosen | undefined;
  #first: ProxyDefinition | undefined;

  constructor(route: SentRoute, keys: SentKeys, context: Selecting & Authenticating) {
    this.#route = route;
    this.#keys = keys;
    this.#context = context;
  }

  /** @throws {ServiceError} 401 and 403 if no key selects a Proxy. */
  async find(): Promise<ProxyDefinition | undefined> {
    this.#chosen = await (this.#keys.apiKey === undefined ? this.#chooseByPlace() : this.#chooseByOwnHeader());
    this.#first ??= this.#chosen?.proxy;
    return this.#chosen?.proxy;
  }

  /** No key is chosen again, and a Proxy that has the name meanwhile is another one. */
  async findAgain(tx?: Queryable): Promise<ProxyDefinition | undefined> {
    if (!this.#first) return undefined;
    const { tenantId, id } = this.#first;
    const found = await findByName({ tenantId, pathName: this.#route.pathName }, this.#context, tx);
    return found?.id === id ? found : undefined;
  }

  notFound(): ServiceError {
    const { pathName } = this.#route;
    return new ServiceError(
      'not_found',
      isPathName(pathName) ? `There is no route ${pathName}` : 'There is no such route',
    );
  }

  /** @throws {ServiceError} as {@link requireInvocable}, and as `find`. */
  async authenticate(proxy: ProxyDefinition): Promise<Caller> {
    if (this.#chosen?.proxy !== proxy) await this.find();
    const caller = this.#chosen?.caller;
    if (!caller) throw this.notFound();
    requireInvocable(proxy, caller);
    return caller;
  }

  goOnWith(found: ProxyDefinition, known: ProxyDefinition, isBeforeCode: boolean): ProxyDefinition | undefined {
    return goOnWith(found, known, isBeforeCode);
  }

  changed(what: 'owner' | 'caller' | 'application'): ServiceError {
    return changedWhileWaiting(what);
  }

  /** Our own header counts alone, whatever stands elsewhere. */
  async #chooseByOwnHeader(): Promise<Chosen | undefined> {
    const caller = await authenticateCaller(this.#keys, this.#context);
    requireUse(caller);
    const proxy = await this.#proxyFor(caller);
    return proxy && { proxy, caller };
  }

  /** The first key that is valid and whose Tenant has a Proxy of this name that lists the key's place. */
  async #chooseByPlace(): Promise<Chosen | undefined> {
    const others: { caller: Caller; proxy: ProxyDefinition | undefined }[] = [];
    for (const { key, place } of this.#route.candidates) {
      const caller = await callerOf(key, this.#keys.hashes, this.#context);
      if (!caller) continue;
      const proxy = await this.#proxyFor(caller);
      if (proxy?.acceptKeyAs?.includes(place)) return { proxy, caller };
      others.push({ caller, proxy });
    }
    for (const { caller } of others) requireUse(caller);
    if (others.some(({ proxy }) => !proxy)) return undefined;
    throw new ServiceError(
      'unauthenticated',
      `A call of a route needs a valid API key, in the header ${this.#context.headerNames.prefix}-API-KEY or in a place that accept_key_as of the Proxy names`,
    );
  }

  #proxyFor({ tenantId }: Caller) {
    return findByName({ tenantId, pathName: this.#route.pathName }, this.#context);
  }
}

function requireUse(caller: Caller): void {
  if (!holds(caller, 'token:use')) throw new ServiceError('forbidden', 'This operation needs the permission token:use');
}
