import { enableCompileCache, flushCompileCache } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { type AssertionResult, createEmptyTestResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import * as circus from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { ModuleMocker } from 'jest-mock';
import { workerStack } from '../worker-stack.ts';

export interface RunOptions {
  config: Config.ProjectConfig;
  globalConfig: Config.GlobalConfig;
}

export type RunFile = (path: string, options: RunOptions) => Promise<TestResult>;

/** After the last file. */
export const close = (): Promise<void> => workerStack.disposeAsync();

// Services and transform threads that a test starts find their sources compiled.
const { directory } = enableCompileCache();
if (directory) process.env.NODE_COMPILE_CACHE = dirname(directory);

const mocker = new ModuleMocker(globalThis);

const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
  setTimeout(timeoutMs: number): void {
    circus.getState().testTimeout = timeoutMs;
  },
};

const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect: jestExpect, it, jest, test });

circus.addEventHandler((event: Circus.Event) => {
  if (event.name === 'test_start') {
    jestExpect.setState({ currentTestName: nameOf(event.test), suppressedErrors: [] });
  } else if (event.name === 'test_done') {
    for (const { error } of jestExpect.extractExpectedAssertionsErrors()) event.test.errors.push(error);
    event.test.errors = event.test.errors.flatMap(unsuppressed);
  }
});

/** What made a test fail comes before the failures of closing what it had opened, which would hide it. */
function unsuppressed(noted: Circus.TestError): Circus.TestError[] {
  const error = Array.isArray(noted) ? noted[0] : noted;
  if (!(error instanceof SuppressedError)) return [noted];
  return [...unsuppressed(error.suppressed), ...unsuppressed(error.error)];
}

function nameOf({ name, parent }: Circus.TestEntry): string {
  return `${parent.name} ${name}`;
}

export const runFile: RunFile = async (path, { config, globalConfig }) => {
  const unhandled: Error[] = [];
  const note = (error: unknown) => unhandled.push(error instanceof Error ? error : new Error(String(error)));
  process.on('uncaughtException', note).on('unhandledRejection', note);
  const start = Date.now();
  try {
    prepare(path, globalConfig);
    for (const file of [...config.setupFiles, path]) await import(pathToFileURL(file).href);
    const { testResults, unhandledErrorsDetailed } = await circus.run();
    await new Promise(setImmediate); // unhandled rejections are reported after the microtasks of the last test
    const assertions = testResults.map(toAssertion);
    return {
      ...createEmptyTestResult(),
      ...countsOf(assertions),
      testFilePath: path,
      testResults: assertions,
      ...failureOf(assertions, [...unhandledErrorsDetailed, ...unhandled]),
      perfStats: {
        ...createEmptyTestResult().perfStats,
        start,
        end: Date.now(),
        runtime: Date.now() - start,
        slow: Date.now() - start > 5000,
      },
    };
  } finally {
    flushCompileCache();
    process.off('uncaughtException', note).off('unhandledRejection', note);
    mocker.restoreAllMocks();
  }

  function failureOf(assertions: AssertionResult[], errors: Error[]) {
    const failed = formatResultsErrors(assertions, config, globalConfig, path);
    if (errors.length === 0) return { failureMessage: failed };
    const told = errors.map((error) => formatExecError(error, config, globalConfig)).join('\n');
    return { failureMessage: `${failed ?? ''}\n\n${told}`, testExecError: { message: '', stack: told } };
  }
};

function prepare(path: string, { testNamePattern, testTimeout }: Config.GlobalConfig): void {
  circus.resetState();
  const state = circus.getState();
  if (testNamePattern) state.testNamePattern = new RegExp(testNamePattern, 'i');
  if (testTimeout !== undefined) state.testTimeout = testTimeout;
  jestExpect.setState({ testPath: path });
}

function toAssertion(result: Circus.TestResult): AssertionResult {
  const [, ...path] = result.testPath;
  const statuses = { skip: 'pending', todo: 'todo', done: result.errors.length > 0 ? 'failed' : 'passed' } as const;
  return {
    ancestorTitles: path.slice(0, -1),
    title: path.at(-1) ?? '',
    fullName: path.join(' '),
    status: statuses[result.status],
    duration: result.duration ?? null,
    failureMessages: [...result.errors],
    failureDetails: [],
    numPassingAsserts: result.numPassingAsserts,
  };
}

function countsOf(assertions: readonly AssertionResult[]) {
  const count = (status: AssertionResult['status']) =>
    assertions.filter((assertion) => assertion.status === status).length;
  return {
    numPassingTests: count('passed'),
    numFailingTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
  };
}
