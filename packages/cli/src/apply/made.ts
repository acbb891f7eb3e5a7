import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { codeOf, UsageError } from '../failure.ts';
import type { Kind } from './wanted.ts';

/** What applies of a file made in a Tenant: ids by name. Only this may `--prune` delete. */
export type Made = Record<Kind, Record<string, string>>;

/** Beside the file, for whoever shares it: `sluice.yaml` has `sluice.applied.json`. It holds ids, and no secret. */
export interface MadeRecord {
  made: Made;
  /** Writes it as it is now. */
  save(): Promise<void>;
}

/** @throws {UsageError} where the record is there and is none. */
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

/** Without a prototype, so that a name like `__proto__` is one like any other. */
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
