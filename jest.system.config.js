import tests from './jest.config.js';

/**
 * The platform as a whole, with its stores, processes and faults.
 * @type {import('jest').Config}
 */
export default {
  ...tests,
  // One more than CI has cores, because platforms that are disturbed wait: for leases, drains, recoveries.
  maxWorkers: 3,
  // Whole platforms are started, killed and started again.
  testTimeout: 900_000,
  testMatch: ['<rootDir>/infra/e2e/src/**/*.test.ts', '<rootDir>/{services,packages,infra}/*/src/**/*.system.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '\\.browser\\.test\\.ts$'],
};
