import { randomBytes, randomUUID } from 'node:crypto';
import { createPepper, generateApiKey, hashKey } from '@sluice/credentials';
import { openJobs } from '@sluice/service-runtime/jobs';
import { connectPostgres } from '@sluice/testing';
import type { BenchmarkStack } from '../stack/start-benchmark-stack.ts';

export interface FillOptions {
  applications: number;
  /** The number of Applications whose keys are returned. */
  watched: number;
}

export interface Expiring {
  keys: { key: string; expiresAt: number }[];
  /** Milliseconds since 1970. */
  firstAt: number;
  lastAt: number;
}

/** The time for filling, and for what is measured before the first one expires. */
const leadMs = 60_000;
const batchSize = 1000;

/** Inserts Applications that expire within one second, and queues an alarm for each. */
export async function fillExpiring(
  { databaseUrl, redisUrl, credentials, environment }: BenchmarkStack,
  { applications, watched }: FillOptions,
  opened: AsyncDisposableStack,
): Promise<Expiring> {
  const { tenant_id: tenantId } = credentials;
  const pepper = createPepper(environment.KEY_PEPPER ?? '');
  const firstAt = Date.now() + leadMs;
  const jobs = openJobs({ redisUrl, stack: opened, onError: (error) => console.error(error) });
  const keys: Expiring['keys'] = [];
  await using client = await connectPostgres(databaseUrl);
  for (let from = 0; from < applications; from += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, applications - from) }, (_, i) => {
      const expiresAt = firstAt + Math.floor((1000 * (from + i)) / applications);
      const isWatched = (from + i) % Math.floor(applications / watched) === 0;
      const key = isWatched ? generateApiKey('local', 'private') : undefined;
      if (key) keys.push({ key, expiresAt });
      return { id: randomUUID(), hash: key ? hashKey(pepper, key) : randomBytes(32), at: new Date(expiresAt) };
    });
    await client.query(
      `insert into applications (tenant_id, id, name, type, permissions, rules, key_hash, expires_at)
      select $1, id, 'Application', 'private', '{token:use}', '[]', hash, at
      from unnest($2::uuid[], $3::bytea[], $4::timestamptz[]) as t(id, hash, at)`,
      [tenantId, batch.map(({ id }) => id), batch.map(({ hash }) => hash), batch.map(({ at }) => at.toISOString())],
    );
    await Promise.all(
      batch.map(({ id, at }) => {
        const payload = { tenant_id: tenantId, application_id: id };
        return jobs.enqueue('application-expiry', { id: `application-${id}`, payload, at });
      }),
    );
  }
  await client.query(
    "update counters set value = value + $1 where ctid = (select min(ctid) from counters where tenant_id = $2 and counter = 'applications')",
    [applications, tenantId],
  );
  await client.query('vacuum (analyze) applications');
  return { keys, firstAt, lastAt: firstAt + 1000 };
}
