import type { Test, TestResult } from '@jest/test-result';
import type { Config } from '@jest/types';
import { Worker } from 'jest-worker';
import type { RunFile } from './run-file.ts';

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
    const { maxWorkers } = this.#config;
    const worker = new Worker(new URL('./run-file.ts', import.meta.url).pathname, {
      exposedMethods: ['runFile'],
      numWorkers: maxWorkers,
      maxRetries: 0,
      forkOptions: { stdio: 'inherit' },
    }) as Worker & { runFile: RunFile };
    const waiting = [...tests];

    const runInTurn = async () => {
      for (let test = waiting.shift(); test && !watcher.isInterrupted(); test = waiting.shift()) {
        await onStart(test);
        const { path, context } = test;
        const run = worker.runFile(path, { config: context.config, globalConfig: this.#config });
        await run.then(
          (result) => onResult(test, result),
          (error) => onFailure(test, error),
        );
      }
    };

    await Promise.all(Array.from({ length: maxWorkers }, runInTurn));
    await worker.end();
  }
}
