import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { isTenantClosed } from '../keys/data-key.queries.ts';
import type { KeyWrapper } from '../keys/key-wrapper.ts';
import { countByVersion } from './encrypted-rows.queries.ts';
import { encryptedTables } from './encrypted-rows.ts';
import { countByRootKey, type KeyVersion, listKeyVersions, type RootKeyUse } from './key-versions.queries.ts';

export interface RootKeyStatus {
  currentKeyId: string;
  rootKeys: RootKeyUse[];
  underOthers: number;
}

export async function readRootKeyStatus(countingDb: Database, keyWrapper: KeyWrapper): Promise<RootKeyStatus> {
  const currentKeyId = await keyWrapper.currentKeyId();
  const rootKeys = await countByRootKey(countingDb);
  const underOthers = rootKeys
    .filter(({ root_key_id }) => root_key_id !== currentKeyId)
    .reduce((sum, { data_keys }) => sum + data_keys, 0);
  return { currentKeyId, rootKeys, underOthers };
}

export interface KeyVersionStatus extends KeyVersion {
  ciphertexts: number | null;
}

/** @throws {ServiceError} `not_found` for a missing or closed Tenant. */
export async function readTenantKeyStatus(countingDb: Database, tenantId: string): Promise<KeyVersionStatus[]> {
  if (await isTenantClosed(countingDb, tenantId)) {
    throw new ServiceError('not_found', `There is no Tenant ${tenantId}, or it is closed`);
  }
  const versions = await listKeyVersions(countingDb, tenantId);
  const counts = new Map<string, Map<number, number>>();
  for (const purpose of new Set(versions.map((version) => version.purpose))) {
    const tables = encryptedTables(purpose);
    if (tables.length > 0) counts.set(purpose, await countByVersion(countingDb, tables, tenantId));
  }
  return versions.map((version) => {
    const ofPurpose = counts.get(version.purpose);
    return { ...version, ciphertexts: ofPurpose ? (ofPurpose.get(version.version) ?? 0) : null };
  });
}
