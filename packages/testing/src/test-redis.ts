import { requireSetting } from './test-database.ts';

/**
 * The real Redis that the test run started, in a logical database of this jest worker's own, so that no worker process
 * of another test file takes the jobs of this one. Channels are shared: they know no databases.
 */
export function testRedisUrl(): string {
  const url = new URL(requireSetting('TEST_REDIS_URL'));
  url.pathname = `/${Number(process.env.JEST_WORKER_ID ?? 0) % 16}`;
  return url.href;
}
