import tests from './jest.config.js';

/**
 * The tests in a browser.
 * @type {import('jest').Config}
 */
export default {
  ...tests,
  // As many as CI has cores: one file alone leaves a third of their time unused, and three are no faster than two.
  maxWorkers: 2,
  testTimeout: 600_000,
  testMatch: ['<rootDir>/{services,packages,infra}/*/src/**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/infra/local/src/testing/browser.setup.ts',
};
