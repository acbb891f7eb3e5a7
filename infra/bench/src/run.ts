import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os';
import { join, resolve } from 'node:path';
import { findProgram } from '@sluice/local';
import { UsageError } from '@sluice/service-runtime/command-line';
import type { Benchmark, BenchmarkContext, Outcome } from './benchmark.ts';
import type { CommandLine } from './command-line.ts';
import { shareCores } from './machine/cores.ts';
import { type Result, toResult, writeResults } from './report/results.ts';
import { pathTable, resultTable } from './report/table.ts';
import { gatewayProgram } from './stack/more-gateways.ts';

const folder = join(import.meta.dirname, '..');

export interface RunOptions extends CommandLine {
  /** Where programs are looked for. */
  path: string;
  signal: AbortSignal;
}

/**
 * Runs the chosen benchmarks one after the other, prints their table and writes their results.
 * @returns whether all ran without an error and were written; a missed goal is not an error.
 */
export async function run(options: RunOptions): Promise<boolean> {
  const { chosen, rounds, seconds, path, signal, keep, acceptsSlower } = options;
  const log = console.log;
  const facts = machineFacts();
  const cores = await shareCores();
  const header = [...facts, cores.description, `${rounds} rounds of ${seconds} s after one to warm up`].join('\n');
  log(header);

  await using opened = new AsyncDisposableStack();
  const directory = await openDirectory(opened, keep);
  const profileDirectory = options.profileDirectory && resolve(options.profileDirectory);
  const besideCheckout = options.besideCheckout && resolve(options.besideCheckout);
  if (besideCheckout && !existsSync(gatewayProgram(besideCheckout)))
    throw new UsageError(`--beside must be another checkout; there is no ${gatewayProgram(besideCheckout)}`);
  const find: BenchmarkContext['find'] = async (name, packages) => {
    try {
      return await findProgram(name, { path, packages, signal, onDownload: () => log(`Downloading ${name} (once)`) });
    } catch (error) {
      signal.throwIfAborted();
      log(`${name} could not be downloaded: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
      return undefined;
    }
  };
  const results: Result[] = [];
  const details: string[] = [];
  let isClean = true;
  for (const benchmark of chosen) {
    const own = join(directory, benchmark.id);
    await mkdir(own, { mode: 0o711 });
    const context = { rounds, seconds, cores, find, profileDirectory, besideCheckout, directory: own, log, signal };
    const outcome = await runOne(benchmark, context);
    const ofThis = outcome?.comparisons.map((comparison) => toResult(benchmark, comparison)) ?? [];
    results.push(...ofThis);
    if (outcome) details.push(describe(benchmark, outcome));
    if (!outcome || ofThis.some(({ errors }) => errors > 0)) isClean = false;
  }

  log(['', header, resultTable(results), ...details].join('\n\n'));
  if (profileDirectory) log(`\nThe profiles are in ${profileDirectory}`);
  if (profileDirectory || besideCheckout) {
    log('\nresults.json is as it was');
  } else {
    const ran = chosen.map(({ id }) => id);
    const refused = await writeResults(join(folder, 'results.json'), results, { ran, acceptsSlower });
    for (const id of refused)
      log(`\n${id} takes over 3 % more processor time than stored: not written without --accept`);
    if (refused.length > 0) isClean = false;
  }
  return isClean;
}

/** A failing benchmark does not stop the others. */
async function runOne(benchmark: Benchmark, context: BenchmarkContext): Promise<Outcome | undefined> {
  context.log(`\n${benchmark.id}: ${benchmark.work}`);
  try {
    return await benchmark.run(context);
  } catch (error) {
    context.signal.throwIfAborted();
    console.error(`${benchmark.id} FAILED:`, error);
    return undefined;
  }
}

function describe({ id }: Benchmark, { paths, notes }: Outcome): string {
  const lines = notes.map((note) => `${id}  ${note}`);
  return [...lines, ...(paths.length > 0 ? [pathTable(id, paths)] : [])].join('\n');
}

/** Other users may pass through, because Postgres may run as one. */
async function openDirectory(opened: AsyncDisposableStack, keep: boolean): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  await chmod(directory, 0o711);
  if (keep) opened.defer(() => console.log(`Logs and data stay in ${directory}`));
  else opened.defer(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** What figures depend on, one fact in each line. Read it before anything is pinned. */
function machineFacts(): string[] {
  const [oneMinute = 0] = loadavg();
  const memory = (totalmem() / 2 ** 30).toFixed(1);
  return [
    `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${memory} GiB`,
    `${type()} ${release()}, Node ${process.version}`,
    `load average ${oneMinute.toFixed(2)}${oneMinute > 0.5 ? ': the machine is busy, figures are not to be trusted' : ''}`,
  ];
}
