/**
 * All tests but those of the platform as a whole and those in a browser, which have configurations of their own
 * (jest.system.config.js, jest.browser.config.js).
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{services,packages,infra}/*/src/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '^<rootDir>/infra/e2e/', '\\.(system|browser)\\.test\\.ts$'],
  transform: {},
  runner: '<rootDir>/packages/testing/src/test-runner/test-runner.ts',
  globalSetup: '<rootDir>/infra/local/src/testing/stores.setup.ts',
  globalTeardown: '<rootDir>/infra/local/src/testing/stores.teardown.ts',
  // Twice as many as CI has cores, because many tests wait: for a lease to end, a timeout, a destination.
  maxWorkers: 4,
  // A bound for what hangs; how long things take is measured by the benchmark.
  testTimeout: 300_000,
};
