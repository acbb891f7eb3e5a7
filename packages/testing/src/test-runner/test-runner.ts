import type { Test, TestResult } from '@jest/test-result';
import type { Config } from '@jest/types';
import { Worker } from 'jest-worker';
import type { close, RunFile } from './run-file.ts';
import { shareOfSlowTests } from './share-of-slow-tests.ts';
import { slowestFirst } from './slowest-first.ts';

type OnStart = (test: Test) => Promise<void>;
type OnResult = (test: Test, result: TestResult) => Promise<void>;
type OnFailure = (test: Test, error: unknown) => Promise<void>;

/**
 * Imports a test file as Node imports any module, because jest's own runner compiles and links every module again for
 * each file, which took 40 % of the processor time of `npm test`. Loaded modules stay, so a test file must leave no
 * global and no state of a module behind. Tests, hooks and timeouts are those of jest-circus; there are no mocks of
 * modules, fake timers, snapshots or coverage.
 */
export default class TestRunner {
  readonly isSerial = false;
  readonly supportsEventEmitters = false;
  readonly #config: Config.GlobalConfig;

  constructor(config: Config.GlobalConfig) {
    this.#config = config;
  }

  async runTests(
    tests: Test[],
    watcher: { isInterrupted(): boolean },
    onStart: OnStart,
    onResult: OnResult,
    onFailure: OnFailure,
  ): Promise<void> {
    const waiting = slowestFirst(tests);
    const numWorkers = Math.min(this.#config.maxWorkers, waiting.length);
    const { share, why } = shareOfSlowTests(this.#config);
    process.stderr.write(`Slow tests: ${why}\n`);

    /** @param id of the worker's process, which chooses its database in Redis. */
    const runInTurn = async (id: number) => {
      let worker: FileWorker | undefined;
      for (let group = waiting.shift(); group && !watcher.isInterrupted(); group = waiting.shift()) {
        for (const test of group) {
          if (watcher.isInterrupted()) break;
          worker ??= startWorker(id, share);
          await onStart(test);
          const { path, context } = test;
          const run = worker.runFile(path, { config: context.config, globalConfig: this.#config });
          await run.then(
            (result) => onResult(test, result),
            (error) => onFailure(test, error),
          );
        }
        if (group.length === 1) continue;
        await end(worker);
        worker = undefined;
      }
      await end(worker);
    };

    await Promise.all(Array.from({ length: numWorkers }, (_, index) => runInTurn(index + 1)));
  }
}

type FileWorker = Worker & { runFile: RunFile; close: typeof close };

/** One process for each `Worker`, so that each can be told to close. */
function startWorker(id: number, share: string): FileWorker {
  return new Worker(new URL('./run-file.ts', import.meta.url).pathname, {
    exposedMethods: ['runFile', 'close'],
    numWorkers: 1,
    maxRetries: 0,
    forkOptions: { stdio: 'inherit', env: { ...process.env, JEST_WORKER_ID: String(id), TEST_SLOW: share } },
  }) as FileWorker;
}

async function end(worker: FileWorker | undefined): Promise<void> {
  await worker?.close();
  await worker?.end();
}
