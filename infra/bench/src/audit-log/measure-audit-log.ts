import { join } from 'node:path';
import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { createListTenant } from '../lists/list-tenant.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { fillLogs } from './fill-log.ts';
import { measureExport } from './measure-export.ts';
import { measureReading } from './measure-reading.ts';
import { measureSequencing } from './measure-sequencing.ts';

const smallRows = 1000;
const exportedRows = 1_000_000;

/** Measures sequencing first, while the tables are small, then reading, once they are large. */
export async function measureAuditLog(context: BenchmarkContext): Promise<Outcome> {
  const { directory, rounds, seconds, logRows: largeRows, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const stack = await startBenchmarkStack('management-api', context, opened);
  const { databaseUrl, serviceUrls } = stack;
  const { managementApi } = serviceUrls;
  await context.cores.moveToTestedCore(stack.processes.get('worker')?.pid); // Postgres has the other one
  const sequencing = await measureSequencing({ databaseUrl, seconds: 2 * seconds, log, signal });

  const newTenant = () => createListTenant(stack, join(directory, 'stack'), signal);
  const [small, large, exported] = [await newTenant(), await newTenant(), await newTenant()];
  const onProgress = (rows: number) => log(`  ${rows.toLocaleString('en')} rows are there`);
  const fill = (tenantId: string, rows: number) => ({ tenantId, rows, signal, onProgress });
  const sized = [fill(small.tenantId, smallRows), fill(large.tenantId, largeRows)];
  await fillLogs(databaseUrl, largeRows === exportedRows ? sized : [...sized, fill(exported.tenantId, exportedRows)]);
  const requests = 10 * seconds;
  const reading = await measureReading({ managementApi, small, large, rounds, requests, log, signal });
  const tenant = largeRows === exportedRows ? large : exported;
  const pid = stack.processes.get('management-api')?.pid;
  const exporting = { databaseUrl, managementApi, pid, tenant, rows: exportedRows, rounds, log, signal };
  return {
    comparisons: [...sequencing, ...reading, ...(await measureExport(exporting))],
    paths: [],
    notes: [
      `medians of one request at a time; ours: with ${largeRows.toLocaleString('en')} rows; sequencing is measured once`,
    ],
  };
}
