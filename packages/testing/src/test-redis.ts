import { requireSetting } from './test-database.ts';

/** Services that the files of a worker share have databases of their own, so that they take no jobs of a file's service. */
const sharers = ['none', 'gateway', 'management', 'console'] as const;

/** Each jest worker has its own logical database, so no other file's worker takes its jobs. Channels are shared. */
export function testRedisUrl(sharedService: (typeof sharers)[number] = 'none'): string {
  const url = new URL(requireSetting('TEST_REDIS_URL'));
  url.pathname = `/${(Number(process.env.JEST_WORKER_ID ?? 0) + 4 * sharers.indexOf(sharedService)) % 16}`;
  return url.href;
}
