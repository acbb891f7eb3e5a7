import { randomBytes, randomUUID } from 'node:crypto';
import { createPepper, generateApiKey, hashKey } from '@sluice/credentials';
import { openJobs } from '@sluice/jobs';
import pg from 'pg';

export interface FillOptions {
  databaseUrl: string;
  redisUrl: string;
  pepper: string;
  tenantId: string;
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
export async function fillExpiring(options: FillOptions, opened: AsyncDisposableStack): Promise<Expiring> {
  const { databaseUrl, redisUrl, tenantId, applications, watched } = options;
  const pepper = createPepper(options.pepper);
  const firstAt = Date.now() + leadMs;
  const jobs = openJobs({ redisUrl, stack: opened, onError: (error) => console.error(error) });
  const keys: Expiring['keys'] = [];
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
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
  } finally {
    await client.end();
  }
  return { keys, firstAt, lastAt: firstAt + 1000 };
}

/** Rows that have expired, or expire within the second. */
export async function countDue(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select count(*)::integer as due from applications where expires_at is not null',
    );
    return rows[0].due;
  } finally {
    await client.end();
  }
}
