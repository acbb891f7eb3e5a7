import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';

/** For each Proxy. The current state counts as the newest version. */
export const mostVersions = 100;
const mostBytes = 8 * 1024 * 1024;

export interface FormerVersion {
  tenant_id: string;
  id: string;
  proxy_id: string;
  version: number;
  at: string;
  by_id: string | null;
  changed_members: string[];
  definition_ciphertext: Buffer;
}

/** Also deletes the oldest versions over the limits. The Proxy must be locked. */
export async function insertVersion(tx: Queryable, former: FormerVersion): Promise<void> {
  await tx.insertInto('proxy_versions').values(former).execute();
  await sql`
    delete from proxy_versions where tenant_id = ${former.tenant_id} and id in (
      select id from (
        select id, row_number() over newest as place, sum(octet_length(definition_ciphertext)) over newest as bytes
        from proxy_versions where tenant_id = ${former.tenant_id} and proxy_id = ${former.proxy_id}
        window newest as (order by version desc)
      ) as kept
      where place >= ${sql.lit(mostVersions)} or bytes > ${sql.lit(mostBytes)}
    )
  `.execute(tx);
}

export type VersionSummary = Omit<FormerVersion, 'tenant_id' | 'id' | 'proxy_id' | 'definition_ciphertext'>;

/** Newest first. */
export function listFormerVersions(db: Queryable, tenantId: string, proxyId: string): Promise<VersionSummary[]> {
  return db
    .selectFrom('proxy_versions')
    .select(['version', 'at', 'by_id', 'changed_members'])
    .where('tenant_id', '=', tenantId)
    .where('proxy_id', '=', proxyId)
    .orderBy('version', 'desc')
    .execute();
}

export function findFormerVersion(db: Queryable, tenantId: string, proxyId: string, version: number) {
  return db
    .selectFrom('proxy_versions')
    .select(['id', 'at', 'by_id', 'definition_ciphertext'])
    .where('tenant_id', '=', tenantId)
    .where('proxy_id', '=', proxyId)
    .where('version', '=', version)
    .executeTakeFirst();
}
