import { requireSetting } from './test-database.ts';

/**
 * The real Redis, in a logical database for each jest worker, so that no other test file's worker takes its jobs.
 * Channels are shared: they know no databases.
 */
export function testRedisUrl(): string {
  const url = new URL(requireSetting('TEST_REDIS_URL'));
  url.pathname = `/${Number(process.env.JEST_WORKER_ID ?? 0) % 16}`;
  return url.href;
}
