import { type AtOnceOrLater, type Loaded, tagOf } from '@sluice/cache-coherence';
import { bytesOf, isWellFormedProxyKey } from '@sluice/credentials';
import { proxyColumns, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { parseDestination } from '../destination/index.ts';
import type { ProxyDefinition } from './definition.ts';
import type { SentKeys } from './sent-keys.ts';

export type Selecting = Pick<Context, 'db' | 'proxies' | 'pepper'>;

/** The same error for an unknown key and for another Tenant's Proxy. */
export function proxyNotFound(): ServiceError {
  return new ServiceError('not_found', 'There is no Proxy with this key');
}

/** Undefined if no Proxy has this key. In a transaction it reads past the caches. */
export function findByKey(
  { proxyKey, hashes }: SentKeys,
  { db, proxies, pepper }: Selecting,
  tx?: Queryable,
): AtOnceOrLater<ProxyDefinition | undefined> {
  if (!isWellFormedProxyKey(proxyKey)) return undefined;
  const hashText = hashes.of(pepper, proxyKey);
  if (tx) return loadProxy(tx, bytesOf(hashText)).then((loaded) => loaded?.value);
  return proxies.get(hashText, () => loadProxy(db, bytesOf(hashText)));
}

async function loadProxy(db: Queryable, keyHash: Buffer): Promise<Loaded<ProxyDefinition> | undefined> {
  const row = await db
    .selectFrom('proxies')
    .innerJoin('tenants', 'tenants.id', 'proxies.tenant_id')
    .select(['proxies.id', 'proxies.tenant_id', ...columns.map((column) => `proxies.${column}` as const)])
    .where('proxies.key_hash', '=', keyHash)
    .where('tenants.closed_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, tenant_id: tenantId, destination_url, ...members } = row;
  const destination = parseDestination(destination_url);
  if (!destination) throw new ServiceError('destination_unreachable', 'The destination could not be reached');
  const value = { ...inOurNames(members), id, tenantId, destination };
  return { value, tags: [tagOf.proxy(id), tagOf.tenant(tenantId)], sizeBytes: sizeOf(destination_url, members) };
}

const columns = proxyColumns.filter((column) => column !== 'name');

/** For example `require_auth` as `requireAuth`; null as undefined. */
function inOurNames(members: Record<string, unknown>): Omit<ProxyDefinition, 'id' | 'tenantId' | 'destination'> {
  const named = Object.entries(members).map(([column, value]) => [
    column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    value ?? undefined,
  ]);
  return Object.fromEntries(named);
}

/** In bytes; a character of text may take two. */
function sizeOf(destinationUrl: string, members: Record<string, unknown>): number {
  const sizes = Object.values(members).map((value) => {
    if (Buffer.isBuffer(value)) return value.length;
    return 2 * (typeof value === 'string' ? value : JSON.stringify(value ?? '')).length;
  });
  return sizes.reduce((sum, size) => sum + size, 500 + 2 * destinationUrl.length);
}
