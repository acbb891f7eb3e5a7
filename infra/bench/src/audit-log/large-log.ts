import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarkContext } from '../benchmark.ts';
import { readKept } from '../report/results.ts';
import { type BenchmarkStack, startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { addTenant } from '../stack/tenant.ts';
import { fillLogs } from './fill-log.ts';

/** A Tenant whose audit log has this many rows. */
export interface LogTenant {
  tenantId: string;
  headers: Record<string, string>;
  rows: number;
}

interface LogStack {
  stack: BenchmarkStack;
  small: LogTenant;
  large: LogTenant;
}

const smallRows = 1000;

/**
 * A stack with a small audit log and a large one. With `dataDirectory` it is kept there with what was filled in, for the
 * next run to find.
 */
export async function startLogStack(context: BenchmarkContext, opened: AsyncDisposableStack): Promise<LogStack> {
  const { logRows, log, signal } = context;
  const directory = context.dataDirectory ?? context.directory;
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const stack = await startBenchmarkStack('management-api', { ...context, directory }, opened);
  const file = join(directory, 'log-tenants.json');
  const kept = await readKept<LogTenant>(file);
  const missing = [smallRows, logRows].filter((rows) => !kept.some((tenant) => tenant.rows === rows));
  const made: LogTenant[] = [];
  for (const rows of missing) made.push({ ...(await addTenant(stack, signal)), rows });
  const onProgress = (rows: number) => log(`  ${rows.toLocaleString('en')} rows are there`);
  if (made.length > 0) await fillLogs(stack.databaseUrl, made, { signal, onProgress });
  const tenants = [...kept, ...made];
  await writeFile(file, JSON.stringify(tenants), { mode: 0o600 });
  const tenantOf = (rows: number) => tenants.find((tenant) => tenant.rows === rows) as LogTenant;
  return { stack, small: tenantOf(smallRows), large: tenantOf(logRows) };
}
