import { isDeepStrictEqual } from 'node:util';
import type { Asking } from '@sluice/http-api';
import { decryptSecret, encryptSecret, type Vault } from '@sluice/vault';
import type { Context } from '../context.ts';
import { withoutNulls } from '../without-nulls.ts';
import type { ProxyDefinition } from './proxy.definition.ts';
import { findProxy, type ProxyRow } from './proxy.queries.ts';

function place(tenantId: string, recordId: string, field: 'key' | 'configuration') {
  return { tenantId, purpose: 'proxy_secrets', recordId, field } as const;
}

export function encryptProxyKey(vault: Vault, tenantId: string, proxyId: string, key: string): Promise<Buffer> {
  return encryptSecret(vault, place(tenantId, proxyId, 'key'), key);
}

export async function toColumns(vault: Vault, tenantId: string, proxyId: string, definition: ProxyDefinition) {
  const { configuration } = definition;
  return {
    name: definition.name,
    destination_url: definition.destination_url,
    request_transform: definition.request_transform?.code ?? null,
    response_transform: definition.response_transform?.code ?? null,
    application_id: definition.application?.id ?? null,
    require_auth: definition.require_auth,
    configuration_ciphertext: configuration
      ? await encryptSecret(vault, place(tenantId, proxyId, 'configuration'), JSON.stringify(configuration))
      : null,
  };
}

async function readConfiguration(vault: Vault, row: ProxyRow): Promise<Record<string, string> | null> {
  if (!row.configuration_ciphertext) return null;
  const text = await decryptSecret(vault, place(row.tenant_id, row.id, 'configuration'), row.configuration_ciphertext);
  return JSON.parse(text.toString());
}

export async function toDefinition(vault: Vault, row: ProxyRow): Promise<ProxyDefinition> {
  const configuration = await readConfiguration(vault, row);
  return {
    name: row.name,
    destination_url: row.destination_url,
    ...(row.request_transform !== null && { request_transform: { code: row.request_transform } }),
    ...(row.response_transform !== null && { response_transform: { code: row.response_transform } }),
    ...(row.application_id !== null && { application: { id: row.application_id } }),
    ...(configuration && { configuration }),
    require_auth: row.require_auth,
  };
}

export async function toProxy(vault: Vault, row: ProxyRow) {
  const { key_ciphertext, configuration_ciphertext: _, request_transform, response_transform, ...rest } = row;
  const key = await decryptSecret(vault, place(row.tenant_id, row.id, 'key'), key_ciphertext);
  return {
    ...withoutNulls({
      ...rest,
      request_transform: request_transform === null ? null : { code: request_transform },
      response_transform: response_transform === null ? null : { code: response_transform },
      configuration: await readConfiguration(vault, row),
    }),
    id: row.id,
    key: key.toString(),
  };
}

/** A kept answer shows the key only while the Proxy is there, and the configuration only while it is the same. */
export async function withoutSecretsThatAreGone(
  kept: unknown,
  { db, vault }: Context,
  { caller }: Asking,
): Promise<unknown> {
  const { key, configuration, ...resource } = kept as Awaited<ReturnType<typeof toProxy>>;
  const row = await findProxy(db, caller.tenantId, resource.id);
  if (!row) return resource;
  const isCurrent = configuration && isDeepStrictEqual(configuration, await readConfiguration(vault, row));
  return { ...resource, ...(isCurrent && { configuration }), key };
}
