import { type Coherence, openCoherence } from '@sluice/cache-coherence';
import { serviceLogger } from '@sluice/service-runtime';
import { Registry } from 'prom-client';
import type { TestDatabase } from './test-database.ts';
import { testRedisUrl } from './test-redis.ts';

/** On the test's own database and the real Redis, as another process would have them. */
export function openTestCoherence({ db, url }: TestDatabase, stack: AsyncDisposableStack): Promise<Coherence> {
  const log = serviceLogger({ service: 'test', level: 'silent' }, { write: () => {} });
  const stores = { DATABASE_URL: url, REDIS_URL: testRedisUrl() };
  return openCoherence({ ...stores, db, service: 'test', log, metrics: new Registry(), stack });
}
