import { isDeepStrictEqual } from 'node:util';
import {
  listProxyMembers,
  type ProxyColumns,
  type ProxyMemberName,
  proxyMembers,
  proxyVersionField,
} from '@sluice/database';
import type { Asking } from '@sluice/http-api';
import { decryptSecret, encryptSecret, type Vault } from '@sluice/vault';
import type { Insertable } from 'kysely';
import type { Context } from '../context.ts';
import { withoutNulls } from '../without-nulls.ts';
import { shownTo } from './hidden-values.ts';
import type { ProxyDefinition } from './proxy.definition.ts';
import { findProxy, type ProxyRow } from './proxy.queries.ts';

type Field = 'key' | ProxyMemberName;

function place(tenantId: string, recordId: string, field: Field) {
  return { tenantId, purpose: 'proxy_secrets', recordId, field } as const;
}

export function encryptProxyKey(vault: Vault, tenantId: string, proxyId: string, key: string): Promise<Buffer> {
  return encryptSecret(vault, place(tenantId, proxyId, 'key'), key);
}

/** All columns, null where the member is unset. */
export async function toColumns(
  vault: Vault,
  tenantId: string,
  proxyId: string,
  definition: ProxyDefinition,
): Promise<Insertable<ProxyColumns>> {
  const columns = listProxyMembers().map(async ([name, { column, kept }]) => {
    const value: unknown = definition[name];
    if (value === undefined) return [column, null];
    if (kept === 'code') return [column, (value as { code: string }).code];
    if (kept === 'reference') return [column, (value as { id: string }).id];
    if (kept === 'plain') return [column, value];
    return [column, await encryptSecret(vault, place(tenantId, proxyId, name), JSON.stringify(value))];
  });
  return Object.fromEntries(await Promise.all(columns));
}

/** By the member's name, without unset members. */
async function readMembers(vault: Vault, row: ProxyRow): Promise<[ProxyMemberName, unknown][]> {
  const members = listProxyMembers().map(async ([name, { column, kept }]): Promise<[ProxyMemberName, unknown]> => {
    const value = row[column as keyof ProxyRow];
    if (value === null) return [name, undefined];
    if (kept === 'code') return [name, { code: value }];
    if (kept === 'reference') return [name, { id: value }];
    if (kept === 'plain') return [name, value];
    return [name, await readSecret(vault, row, name, value as Buffer)];
  });
  return (await Promise.all(members)).filter(([, value]) => value !== undefined);
}

async function readSecret(vault: Vault, { tenant_id, id }: ProxyRow, name: ProxyMemberName, ciphertext: Buffer) {
  return JSON.parse((await decryptSecret(vault, place(tenant_id, id, name), ciphertext)).toString());
}

export async function toDefinition(vault: Vault, row: ProxyRow): Promise<ProxyDefinition> {
  return Object.fromEntries(await readMembers(vault, row)) as ProxyDefinition;
}

interface VersionPlace {
  tenantId: string;
  id: string;
}

function placeOfVersion({ tenantId, id }: VersionPlace) {
  return { tenantId, purpose: 'proxy_secrets', recordId: id, field: proxyVersionField } as const;
}

export function encryptVersion(vault: Vault, at: VersionPlace, definition: ProxyDefinition): Promise<Buffer> {
  return encryptSecret(vault, placeOfVersion(at), JSON.stringify(definition));
}

export async function decryptVersion(
  vault: Vault,
  { definition_ciphertext, ...at }: VersionPlace & { definition_ciphertext: Buffer },
): Promise<ProxyDefinition> {
  return JSON.parse((await decryptSecret(vault, placeOfVersion(at), definition_ciphertext)).toString());
}

export interface AnsweredProxy extends Record<string, unknown> {
  id: string;
  key: string;
}

export async function toProxy(vault: Vault, row: ProxyRow): Promise<AnsweredProxy> {
  const proxy = await toVersion(vault, row, await toDefinition(vault, row));
  const { application_id, named_application_id: former } = row;
  return application_id === null && former !== null ? { ...proxy, former_application_id: former } : proxy;
}

/** The Proxy as it would be with this definition. */
export async function toVersion(vault: Vault, row: ProxyRow, definition: ProxyDefinition): Promise<AnsweredProxy> {
  const { id, tenant_id, created_by, created_at, modified_by, modified_at } = row;
  const key = await decryptSecret(vault, place(tenant_id, id, 'key'), row.key_ciphertext);
  const members = (Object.entries(definition) as [ProxyMemberName, unknown][]).map(([name, value]) => {
    const { kept, column } = proxyMembers[name];
    return kept === 'reference' ? [column, (value as { id: string }).id] : [name, value];
  });
  return {
    ...withoutNulls({ tenant_id, ...Object.fromEntries(members), created_by, created_at, modified_by, modified_at }),
    id,
    key: key.toString(),
  };
}

/**
 * A replayed response has the key only while the Proxy exists, and a secret only if it is unchanged and the caller may
 * see it.
 */
export async function withoutSecretsThatAreGone(
  kept: unknown,
  { db, vault }: Context,
  { caller }: Asking,
): Promise<unknown> {
  const { key: _, ...shown } = kept as AnsweredProxy;
  const row = await findProxy(db, caller.tenantId, shown.id);
  const current = row && shownTo(caller, await toProxy(vault, row));
  const gone = listProxyMembers().filter(
    ([name, member]) => member.kept === 'secret' && !isDeepStrictEqual(shown[name], current?.[name]),
  );
  const resource = Object.fromEntries(
    Object.entries(shown).filter(([name]) => !gone.some(([other]) => other === name)),
  );
  return current ? { ...resource, key: current.key } : resource;
}
