import { type AtOnceOrLater, type Loaded, tagOf } from '@sluice/cache-coherence';
import { bytesOf, isWellFormedProxyKey } from '@sluice/credentials';
import { asTenant, pathNamePattern, proxyColumns, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { decryptSecret, parseRequestHeaders, type RequestHeader } from '@sluice/vault';
import type { Context } from '../context.ts';
import { parseDestination } from '../destination/index.ts';
import type { ProxyDefinition } from './definition.ts';
import type { SentKeys } from './sent-keys.ts';

export type Selecting = Pick<Context, 'db' | 'proxies' | 'pepper' | 'vault'>;

/** The same error for an unknown key and for another Tenant's Proxy. */
export function proxyNotFound(): ServiceError {
  return new ServiceError('not_found', 'No Proxy has this key');
}

/** Undefined if no Proxy has this key. In a transaction it reads past the caches. */
export function findByKey(
  { proxyKey, hashes }: SentKeys,
  { db, proxies, pepper, vault }: Selecting,
  tx?: Queryable,
): AtOnceOrLater<ProxyDefinition | undefined> {
  if (!isWellFormedProxyKey(proxyKey)) return undefined;
  const hashText = hashes.of(pepper, proxyKey);
  const by = { keyHash: bytesOf(hashText) };
  if (tx) return loadProxy(tx, vault, by).then((loaded) => loaded?.value);
  return proxies.get(hashText, () => loadProxy(db, vault, by));
}

interface ByName {
  tenantId: string;
  pathName: string;
}

/** Whether a Proxy could have this name. What could not is neither looked up nor remembered, because it may have any length. */
export function isPathName(text: string): boolean {
  return wellFormed.test(text);
}

const wellFormed = new RegExp(pathNamePattern);

/** Undefined if no Proxy of the Tenant has this name. The caches remember that until a name is set. */
export function findByName(
  { tenantId, pathName }: ByName,
  { db, proxies, vault }: Pick<Selecting, 'db' | 'proxies' | 'vault'>,
  tx?: Queryable,
): AtOnceOrLater<ProxyDefinition | undefined> {
  if (!isPathName(pathName)) return undefined;
  const by = { tenantId, pathName };
  if (tx) return loadProxy(tx, vault, by).then((loaded) => loaded?.value);
  return proxies.get(`${tenantId}/${pathName}`, () => asTenant(tenantId, () => loadProxy(db, vault, by)));
}

async function loadProxy(
  db: Queryable,
  vault: Context['vault'],
  by: { keyHash: Buffer } | ByName,
): Promise<Loaded<ProxyDefinition> | undefined> {
  const row = await db
    .selectFrom('proxies')
    .innerJoin('tenants', 'tenants.id', 'proxies.tenant_id')
    .select([
      'proxies.id',
      'proxies.tenant_id',
      'proxies.named_application_id',
      ...columns.map((column) => `proxies.${column}` as const),
    ])
    .where((where) =>
      'keyHash' in by
        ? where('proxies.key_hash', '=', by.keyHash)
        : where.and({ 'proxies.tenant_id': by.tenantId, 'proxies.path_name': by.pathName }),
    )
    .where('tenants.closed_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const {
    id,
    tenant_id: tenantId,
    destination_url,
    named_application_id,
    request_headers_ciphertext,
    response_guard,
    ...members
  } = row;
  const destination = parseDestination(destination_url);
  if (!destination) throw new ServiceError('destination_unreachable', 'The destination could not be reached');
  const value = {
    ...inOurNames(members),
    id,
    tenantId,
    destination,
    requestHeaders: await readRequestHeaders(vault, { tenantId, id }, request_headers_ciphertext),
    // The previous version changes `application_id` and does not know the other column
    revealingApplicationId: row.application_id ?? named_application_id ?? undefined,
    responseGuard: response_guard ?? 'off',
  };
  const sizeBytes = sizeOf(destination_url, members) + sizeOfHeaders(value.requestHeaders);
  return { value, tags: [tagOf.proxy(id), tagOf.tenant(tenantId)], sizeBytes };
}

async function readRequestHeaders(
  vault: Context['vault'],
  { tenantId, id }: Pick<ProxyDefinition, 'tenantId' | 'id'>,
  ciphertext: Buffer | null,
): Promise<RequestHeader[] | undefined> {
  if (!ciphertext) return undefined;
  const place = { tenantId, purpose: 'proxy_secrets', recordId: id, field: 'request_headers' } as const;
  return parseRequestHeaders(JSON.parse((await decryptSecret(vault, place, ciphertext)).toString()));
}

const columns = proxyColumns.filter((column) => column !== 'name');

type NamedHere = 'id' | 'tenantId' | 'destination' | 'requestHeaders' | 'revealingApplicationId' | 'responseGuard';

/** For example `require_auth` as `requireAuth`; null as undefined. */
function inOurNames(members: Record<string, unknown>): Omit<ProxyDefinition, NamedHere> {
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

function sizeOfHeaders(headers: readonly RequestHeader[] = []): number {
  const sizes = headers.map(({ name, text, parts }) => {
    const sizesOfParts = parts.map((part) => (part.kind === 'literal' ? 2 * part.text.length : sizeOfExpression(part)));
    return sizesOfParts.reduce((sum, size) => sum + 100 + size, 2 * (name.length + text.length));
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Each filter has its tokens and its arguments. */
const sizeOfExpression = ({ start, end, filters }: { start: number; end: number; filters: readonly unknown[] }) =>
  2 * (end - start) + 1000 * filters.length;
