import { type AtOnceOrLater, andThen, type Loaded, tagOf } from '@sluice/cache-coherence';
import { bytesOf, hashKeyText, isWellFormedProxyKey } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { parseDestination } from '../destination/index.ts';
import type { ProxyDefinition } from './definition.ts';

/** The same error for an unknown key and for another Tenant's Proxy. */
export function proxyNotFound(): ServiceError {
  return new ServiceError('not_found', 'There is no Proxy with this key');
}

/** Undefined if there is none any more. */
export function lookUpProxy(
  proxyKey: string,
  { db, proxies, pepper }: Context,
): AtOnceOrLater<ProxyDefinition | undefined> {
  const hashText = hashKeyText(pepper, proxyKey);
  return proxies.get(hashText, () => loadProxy(db, bytesOf(hashText)));
}

export function findProxy(proxyKey: string, context: Context): AtOnceOrLater<ProxyDefinition> {
  if (!isWellFormedProxyKey(proxyKey)) throw proxyNotFound();
  return andThen(lookUpProxy(proxyKey, context), (proxy) => {
    if (!proxy) throw proxyNotFound();
    return proxy;
  });
}

async function loadProxy(db: Queryable, keyHash: Buffer): Promise<Loaded<ProxyDefinition> | undefined> {
  const row = await db
    .selectFrom('proxies')
    .innerJoin('tenants', 'tenants.id', 'proxies.tenant_id')
    .select([
      'proxies.id',
      'proxies.tenant_id',
      'proxies.destination_url',
      'proxies.request_transform',
      'proxies.response_transform',
      'proxies.application_id',
      'proxies.configuration_ciphertext',
      'proxies.require_auth',
    ])
    .where('proxies.key_hash', '=', keyHash)
    .where('tenants.closed_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const destination = parseDestination(row.destination_url);
  if (!destination) throw new ServiceError('destination_unreachable', 'The destination could not be reached');
  const value: ProxyDefinition = {
    id: row.id,
    tenantId: row.tenant_id,
    destination,
    requestTransform: row.request_transform ?? undefined,
    responseTransform: row.response_transform ?? undefined,
    applicationId: row.application_id ?? undefined,
    configurationCiphertext: row.configuration_ciphertext ?? undefined,
    requireAuth: row.require_auth,
  };
  return { value, tags: [tagOf.proxy(row.id), tagOf.tenant(row.tenant_id)], sizeBytes: sizeOf(value) };
}

/** In bytes; a character of text may take two. */
function sizeOf({ destination, requestTransform, responseTransform, configurationCiphertext }: ProxyDefinition) {
  const { origin, path, query } = destination;
  const texts =
    origin.length + path.length + query.length + (requestTransform?.length ?? 0) + (responseTransform?.length ?? 0);
  return 500 + 2 * texts + (configurationCiphertext?.length ?? 0);
}
