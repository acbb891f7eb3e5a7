import { randomBytes, randomUUID } from 'node:crypto';
import { createPepper, generateApiKey, generateProxyKey, hashKey } from '@sluice/credentials';
import { connectPostgres } from '@sluice/testing';
import type { BenchmarkStack } from '../stack/start-benchmark-stack.ts';

/** The number of rows in all, and of those whose keys are returned. */
export interface KeyCounts {
  applications: number;
  proxies: number;
  known: number;
}

export interface KnownKeys {
  apiKeys: string[];
  proxyKeys: string[];
}

const batchSize = 10_000;

/** The key of the row with this number, if it is returned. */
type KeyOf = (n: number) => string | undefined;

const inserts = {
  applications: `
    insert into applications (tenant_id, id, name, type, permissions, rules, key_hash)
    select $1, id, 'Application', 'private', '{token:use}', '[]', hash from unnest($2::uuid[], $3::bytea[]) as t(id, hash)`,
  proxies: `
    insert into proxies (tenant_id, id, name, key_hash, key_ciphertext, destination_url)
    select $1, id, 'Proxy', hash, hash, $4 from unnest($2::uuid[], $3::bytea[]) as t(id, hash)`,
};

/** Inserts rows by SQL, with generated keys for those that will be used. */
export async function fillKeys(
  { databaseUrl, credentials, environment }: BenchmarkStack,
  destinationUrl: string,
  { applications, proxies, known }: KeyCounts,
): Promise<KnownKeys> {
  const pepper = createPepper(environment.KEY_PEPPER ?? '');
  const apiKeys = Array.from({ length: known }, () => generateApiKey('local', 'private'));
  const proxyKeys = Array.from({ length: known }, () => generateProxyKey());
  await using client = await connectPostgres(databaseUrl);
  const fill = async (table: keyof typeof inserts, count: number, keyOf: KeyOf) => {
    for (let from = 0; from < count; from += batchSize) {
      const numbers = Array.from({ length: Math.min(batchSize, count - from) }, (_, i) => from + i);
      const hashes = numbers.map((n) => {
        const key = keyOf(n);
        return key === undefined ? randomBytes(32) : hashKey(pepper, key);
      });
      const values = [credentials.tenant_id, numbers.map(() => randomUUID()), hashes];
      await client.query(inserts[table], table === 'proxies' ? [...values, destinationUrl] : values);
    }
  };
  await fill('applications', applications, (n) => apiKeys[n]);
  await fill('proxies', proxies, (n) => proxyKeys[n]);
  await client.query('vacuum (analyze) applications, proxies');
  await client.query('checkpoint');
  return { apiKeys, proxyKeys };
}
