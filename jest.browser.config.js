import tests from './jest.config.js';

/**
 * The tests in a browser. One at a time, because a browser keeps both cores of a small machine busy.
 * @type {import('jest').Config}
 */
export default {
  ...tests,
  maxWorkers: 1,
  testTimeout: 600_000,
  testMatch: ['<rootDir>/{services,packages,infra}/*/src/**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/infra/local/src/testing/browser.setup.ts',
};
