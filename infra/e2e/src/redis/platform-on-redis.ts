import { eventually } from '@sluice/testing';
import pg from 'pg';
import { type Destination, startDestination } from '../destination.ts';
import { type Created, type Platform, startPlatform } from '../platform.ts';

const cardNumber = '4242424242424242';

/** What the platform does by means of Redis, each as a check that fails where it does not happen. */
export interface PlatformOnRedis {
  platform: Platform;
  /** A token is created, and the destination gets its value. */
  doMainJob(): Promise<void>;
  /**
   * Regenerates a key so many times; each key before is refused in each service as soon as the answer is there.
   * @returns how long each answer waited for the processes that cache.
   */
  regenerate(times: number): Promise<number[]>;
  /** Creates an Application that expires then; its row is removed by its job, since no sweep runs. */
  createExpiring(at: Date): Promise<{ untilRemoved(): Promise<void> }>;
}

/** The whole platform on this Redis, with rate limits, and without sweeps after the first. */
export async function startPlatformOnRedis(redisUrl: string, closing: AsyncDisposableStack): Promise<PlatformOnRedis> {
  const settings = {
    SWEEP_INTERVAL_MS: '3600000',
    RATE_LIMIT_PROXY_PER_SECOND: '1000',
    RATE_LIMIT_REDIS_TIMEOUT_MS: '1000',
  };
  const platform = await startPlatform(closing, settings, redisUrl);
  const destination = await startDestination(closing);
  const database = new pg.Pool({ connectionString: platform.stack.databaseUrl, max: 1 });
  closing.defer(() => database.end());
  const isThere = async (id: string) =>
    (await database.query('select 1 from applications where id = $1', [id])).rowCount === 1;
  const proxy = await platform.createProxy({ destination_url: destination.url });

  return {
    platform,
    async doMainJob() {
      const application = await platform.createApplication({ permissions: ['token:create', 'token:use'] });
      const { body: token } = await platform.call('POST', '/tokens', {
        key: application.key,
        body: { type: 'card', data: { number: cardNumber } },
      });
      const answer = await invoke(
        { platform, proxy, destination },
        application.key,
        `{{ ${token.id} | json: '$.number' }}`,
      );
      expect(answer.body).toEqual({ status: 200, arrived: JSON.stringify({ card: cardNumber }) });
    },
    async regenerate(times) {
      const application = await platform.createApplication({ permissions: ['token:read', 'token:use'] });
      let { key } = application;
      const waited: number[] = [];
      for (let n = 0; n < times; n++) {
        expect(await statuses({ platform, proxy }, key)).toEqual([200, 404, 200]);
        const { status, headers, body } = await platform.manage('POST', `/applications/${application.id}/regenerate`);
        expect(status).toBe(200);
        expect(await statuses({ platform, proxy }, key)).toEqual([401, 401, 401]);
        const [, holders, ms] = /holders=(\d+), waited_ms=(\d+)/.exec(headers.get('svc-revocation') ?? '') ?? [];
        expect(Number(holders)).toBe(3);
        waited.push(Number(ms));
        key = body.key;
      }
      return waited;
    },
    async createExpiring(at) {
      const { id } = await platform.createApplication({ permissions: ['token:use'], expires_at: at.toISOString() });
      expect(await isThere(id)).toBe(true);
      return { untilRemoved: () => eventually(`the row of ${id} is removed`, async () => !(await isThere(id))) };
    },
  };
}

interface Ways {
  platform: Platform;
  proxy: Created;
}

async function invoke(
  { platform, proxy, destination }: Ways & { destination: Destination },
  key: string,
  card: string,
) {
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  const { status } = await platform.call('POST', '/proxy', { key, headers, body: { card } });
  return { body: { status, arrived: destination.seen.at(-1)?.body } };
}

/** How gateway, token vault and management API answer to a key. */
async function statuses({ platform, proxy }: Ways, key: string): Promise<number[]> {
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  return [
    (await platform.call('POST', '/proxy', { key, headers, body: {} })).status,
    (await platform.call('GET', '/tokens/00000000-0000-4000-8000-000000000000', { key })).status,
    (await platform.call('GET', '/permissions', { key })).status,
  ];
}

/** The middle one. By announcements it is a few milliseconds; by mailboxes alone about half a second. */
export function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

export const withoutAnnouncementsMs = 250;
