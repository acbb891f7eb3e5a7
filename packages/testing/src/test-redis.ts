import { requireSetting } from './test-database.ts';

/** Each jest worker has its own logical database, so no other file's worker takes its jobs. Channels are shared. */
export function testRedisUrl(): string {
  const url = new URL(requireSetting('TEST_REDIS_URL'));
  url.pathname = `/${Number(process.env.JEST_WORKER_ID ?? 0) % 16}`;
  return url.href;
}
