import { randomBytes } from 'node:crypto';
import { startWatchdog } from '@sluice/local/parts';
import { eventually, openStoresFolder, startDestination } from '@sluice/testing';
import { readConfirmation } from '../coherence/history.ts';
import { startPlatform } from '../platform.ts';
import { percentile } from '../under-load/count.ts';
import type { RedisServerOptions } from './redis-server.ts';

const cardNumber = '4242424242424242';

/** What the platform does by means of Redis, each as a check that fails where it does not happen. */
export type PlatformOnRedis = Awaited<ReturnType<typeof startPlatformOnRedis>>;

export const withoutAnnouncementsMs = 250;

type Servers = Pick<RedisServerOptions, 'directory' | 'watchdog' | 'password'>;

/** Starts Redis servers, and the whole platform on them, with rate limits, and without sweeps after the first. */
export async function startPlatformOnRedis<T extends { url: string }>(
  closing: AsyncDisposableStack,
  startRedis: (shared: Servers, closing: AsyncDisposableStack) => Promise<T>,
) {
  const directory = await openStoresFolder(closing, 'redis');
  const watchdog = closing.adopt(await startWatchdog(), (started) => started.close());
  const redis = await startRedis({ directory, watchdog, password: randomBytes(24).toString('base64url') }, closing);
  const environment = {
    SWEEP_INTERVAL_MS: '3600000',
    RATE_LIMIT_PROXY_PER_SECOND: '1000',
    RATE_LIMIT_REDIS_TIMEOUT_MS: '1000',
  };
  const platform = await startPlatform(closing, { environment, redisUrl: redis.url });
  const destination = await startDestination(closing);
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  const invoke = async (key: string, body: object) =>
    (await platform.call('POST', '/proxy', { key, headers, body })).status;
  /** How gateway, token vault and management API answer to a key. */
  const statuses = async (key: string) => [
    await invoke(key, {}),
    (await platform.call('GET', '/tokens/00000000-0000-4000-8000-000000000000', { key })).status,
    (await platform.call('GET', '/permissions', { key })).status,
  ];
  return {
    ...redis,
    /** A token is created, and the destination gets its value. */
    async doMainJob(): Promise<void> {
      const { key } = await platform.createApplication({ permissions: ['token:create', 'token:use'] });
      const card = { type: 'card', data: { number: cardNumber } };
      const { body: token } = await platform.call('POST', '/tokens', { key, body: card });
      expect(await invoke(key, { card: `{{ ${token.id} | json: '$.number' }}` })).toBe(200);
      expect(destination.seen.at(-1)?.body).toBe(JSON.stringify({ card: cardNumber }));
    },
    /**
     * Regenerates a key so many times; each key before is refused in each service as soon as the answer is there.
     * @returns how long, at the median, an answer waited for the processes that cache: a few milliseconds by
     * announcements, about half a second by mailboxes alone.
     */
    async regenerate(times: number): Promise<number> {
      const application = await platform.createApplication({ permissions: ['token:read', 'token:use'] });
      let { key } = application;
      const waited: number[] = [];
      for (let n = 0; n < times; n++) {
        expect(await statuses(key)).toEqual([200, 404, 200]);
        const answer = await platform.manage('POST', `/applications/${application.id}/regenerate`);
        expect(answer.status).toBe(200);
        expect(await statuses(key)).toEqual([401, 401, 401]);
        const { holders, waitedMs } = readConfirmation(answer.headers.get('svc-revocation') ?? '') ?? {};
        expect(holders).toBe(3);
        waited.push(waitedMs ?? Number.NaN);
        key = answer.body.key;
      }
      return percentile(waited, 0.5);
    },
    /** Creates an Application that expires then; its row is removed by its job, since no sweep runs. */
    async createExpiring(inMs: number) {
      const expires_at = new Date(Date.now() + inMs).toISOString();
      const { id } = await platform.createApplication({ permissions: ['token:use'], expires_at });
      const find = () => platform.query('select id from applications where id = $1', [id]);
      expect(await find()).toHaveLength(1);
      return { untilRemoved: () => eventually(`the row of ${id} is removed`, async () => (await find()).length === 0) };
    },
  };
}

/** After the master has died: what was scheduled is done, and everything goes on by announcements. */
export async function expectToGoOn(
  { doMainJob, regenerate, createExpiring }: PlatformOnRedis,
  scheduled: { untilRemoved(): Promise<void> },
): Promise<void> {
  await scheduled.untilRemoved();
  await doMainJob();
  const next = await createExpiring(1500);
  await next.untilRemoved();
  expect(await regenerate(15)).toBeLessThan(withoutAnnouncementsMs);
}
