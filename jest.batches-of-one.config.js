import all from './jest.config.js';

/**
 * The tests of the gateway with batches of one, in which each invocation goes its whole way by itself.
 * @type {import('jest').Config}
 */
export default {
  ...all,
  testMatch: ['<rootDir>/services/proxy-gateway/src/**/*.test.ts'],
  setupFiles: ['<rootDir>/packages/testing/src/batches-of-one.ts'],
};
