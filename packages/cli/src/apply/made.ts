import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { codeOf, UsageError } from '../failure.ts';
import { type Kind, ofEachKind } from './wanted.ts';

/** Ids by name of the objects that applying a file created in a Tenant. `--prune` deletes only these. */
export type Made = Record<Kind, Record<string, string>>;

/** Stored beside FILE as `FILE.applied.json`. It holds ids and no secrets, so it can be shared. */
export interface MadeRecord {
  path: string;
  made: Made;
  save(): Promise<void>;
}

/** @throws {UsageError} if the file exists but is not such a record, or only one of an earlier version exists. */
export async function readMade(file: string, tenantId: string): Promise<MadeRecord> {
  const path = `${file}.applied.json`;
  const tenants = await readTenants(path);
  if (!tenants) await assertNoEarlierRecord(file, path);
  const made: Made = ofEachKind((kind) => byName(tenants?.[tenantId]?.[kind]));
  return {
    path,
    made,
    async save() {
      const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
      await writeFile(unfinished, `${JSON.stringify({ ...tenants, [tenantId]: made }, null, 2)}\n`, { flag: 'wx' });
      await rename(unfinished, path);
    },
  };
}

/** Without a prototype, so that `__proto__` is an ordinary name. */
function byName(ids: Record<string, string> = {}): Record<string, string> {
  return Object.assign(Object.create(null), ids);
}

/**
 * Earlier versions omitted the file's extension, so files that differ only in it shared a record. It does not show
 * which file created what, so a person has to decide.
 */
async function assertNoEarlierRecord(file: string, path: string): Promise<void> {
  const earlier = `${file.slice(0, file.length - extname(file).length)}.applied.json`;
  if (earlier === path || !(await readTenants(earlier))) return;
  throw new UsageError(
    `${earlier} was written by an earlier version and records what was created. If you applied only ${file} with it, rename ${earlier} to ` +
      `${path}. If you applied other files with it too, create ${path} with the text {}. --prune then deletes nothing that was created before.`,
  );
}

/** @returns undefined where there is no such file. */
async function readTenants(path: string): Promise<Record<string, Partial<Made>> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, Partial<Made>>;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
  }
  throw new UsageError(
    `${path} cannot be read. This file is the record of what this command has created. Restore the file, or delete it. If you delete it, --prune does not delete what was created until now.`,
  );
}
