import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { codeOf, UsageError } from '../failure.ts';
import type { Kind } from './wanted.ts';

/** Ids by name of what applies of a file created in a Tenant. `--prune` deletes only these. */
export type Made = Record<Kind, Record<string, string>>;

/** Stored beside the file as `sluice.applied.json`. It holds ids and no secrets, so it can be shared. */
export interface MadeRecord {
  made: Made;
  save(): Promise<void>;
}

/** @throws {UsageError} where the file exists and is not such a record. */
export async function readMade(file: string, tenantId: string): Promise<MadeRecord> {
  const path = `${file.slice(0, file.length - extname(file).length)}.applied.json`;
  const tenants = await readTenants(path);
  const { applications, proxies } = tenants[tenantId] ?? {};
  const made: Made = { applications: byName(applications), proxies: byName(proxies) };
  return {
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

async function readTenants(path: string): Promise<Record<string, Partial<Made>>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, Partial<Made>>;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
  }
  throw new UsageError(
    `${path}, which says what was made, cannot be read. Restore it, or delete it: then nothing is pruned.`,
  );
}
