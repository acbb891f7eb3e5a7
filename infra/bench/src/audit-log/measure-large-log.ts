import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { startLogStack } from './large-log.ts';
import { measureExport } from './measure-export.ts';
import { measureReading } from './measure-reading.ts';

/** What a page of `GET /logs` costs in a large log. */
export async function measureLogReading(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, seconds, logRows, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { stack, small, large } = await startLogStack(context, opened);
  const { managementApi } = stack.serviceUrls;
  const comparisons = await measureReading({
    managementApi,
    small,
    large,
    rounds,
    requests: 10 * seconds,
    log,
    signal,
  });
  return {
    comparisons,
    paths: [],
    notes: [`medians of one request at a time; ours: with ${logRows.toLocaleString('en')} rows`],
  };
}

/** What a whole export of a large log costs. */
export async function measureLogExport(context: BenchmarkContext): Promise<Outcome> {
  const { rounds, log, signal } = context;
  await using opened = new AsyncDisposableStack();
  const { stack, large } = await startLogStack(context, opened);
  const { databaseUrl, serviceUrls } = stack;
  const pid = stack.processes.get('management-api')?.pid;
  const { managementApi } = serviceUrls;
  const options = { databaseUrl, managementApi, pid, tenant: large, rows: large.rows, rounds, log, signal };
  return { comparisons: await measureExport(options), paths: [], notes: [] };
}
