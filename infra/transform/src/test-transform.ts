import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defaultTransformLimits, openTransformPool, type TransformPool, tryTransform } from '@sluice/sandbox';
import { UsageError } from '@sluice/service-runtime/command-line';
import { ClientStandIn } from '@sluice/vault/client-stand-in';
import type { TestOptions } from './command-line.ts';
import { readTask } from './read-task.ts';
import { reportCompileError, reportTrial } from './report.ts';

/** Editors write a file in several steps. */
const settleMs = 50;

export interface Output {
  out(text: string): void;
  error(text: string): void;
}

/** Runs the transform once. @returns whether it succeeded. */
export async function testOnce(options: TestOptions, headerPrefix: string, output: Output): Promise<boolean> {
  const pool = openPool(headerPrefix);
  try {
    return await runAndReport(options, pool, output);
  } finally {
    await pool.close();
  }
}

/** Runs it now and whenever one of its files changes, until `signal` is aborted. */
export async function testAndWatch(
  options: TestOptions,
  { headerPrefix, output, signal }: { headerPrefix: string; output: Output; signal: AbortSignal },
): Promise<void> {
  const pool = openPool(headerPrefix);
  const changes = new Set<() => void>();
  const watchers = watchFiles(options, () => {
    for (const changed of changes) changed();
  });
  try {
    while (!signal.aborted) {
      const changed = new Promise<void>((resolve) => {
        changes.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await runAndReport(options, pool, output);
      output.out('\nWaiting for a change; Ctrl-C ends\n');
      await changed;
      changes.clear();
      await new Promise((resolve) => setTimeout(resolve, settleMs));
    }
  } finally {
    for (const watcher of watchers) watcher.close();
    await pool.close();
  }
}

function openPool(headerPrefix: string): TransformPool {
  return openTransformPool({ limits: defaultTransformLimits, threads: 1, queueLimit: 1, headerPrefix });
}

async function runAndReport(options: TestOptions, pool: TransformPool, output: Output): Promise<boolean> {
  try {
    const task = await readTask(options);
    const source = { file: options.file, code: task.code };
    await pool.ready();
    const fault = await pool.compile(task.code);
    if (fault) {
      output.error(reportCompileError(source, fault));
      return false;
    }
    const client = new ClientStandIn();
    const trial = await tryTransform(pool, { ...task, host: (...call) => client.answer(...call) });
    const text = reportTrial(source, trial, client.calls);
    if (trial.error) output.error(text);
    else output.out(text);
    return trial.error === undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.error(error.message);
    return false;
  }
}

/** Watches the folders of the files, because editors replace a file by a new one. */
function watchFiles({ file, args, configuration }: TestOptions, changed: () => void): FSWatcher[] {
  const files = [file, args, configuration].filter((path) => path !== undefined);
  const folders = new Set(files.map((path) => dirname(path)));
  return [...folders].map((folder) => {
    const names = new Set(files.filter((path) => dirname(path) === folder).map((path) => basename(path)));
    return watch(folder, (_event, name) => {
      if (name !== null && names.has(name)) changed();
    });
  });
}
