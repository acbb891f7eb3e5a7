import { requireSetting } from './test-database.ts';

/** The real Redis that the test run started. It is shared: name keys after something that is the test's own. */
export function testRedisUrl(): string {
  return requireSetting('TEST_REDIS_URL');
}
