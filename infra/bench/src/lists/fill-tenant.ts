import { connectPostgres } from '@sluice/testing';

/** A part of the names that are searched for, and of no other name. */
export const namePart = 'q7zk';

interface FilledTenant {
  tenantId: string;
  /** The number of rows so far, and how many there will be. */
  counts: { applications: number; proxies: number };
  size: number;
}

/** Ten letters and digits that never contain the part that is searched for, but often pieces of it. */
const reference = `replace(
  lower(substr(translate(encode(sha256(n::text::bytea), 'base64'), '+/', 'zq'), 1, 10)), '${namePart}', '')`;

const fills = {
  applications: `
    insert into applications (tenant_id, id, name, type, permissions, rules, key_hash, expires_at, created_at)
    select $1, gen_random_uuid(), 'Checkout ' || n, 'private', '{token:use}', '[]', sha256(uuidv7()::text::bytea),
      case when n % 10 = 0 then now() + interval '1 year' end, now() - interval '1 day' - n * interval '1 second'
    from generate_series(1, $2::integer) n`,
  proxies: `
    insert into proxies (tenant_id, id, name, key_hash, key_ciphertext, destination_url, created_at)
    select $1, gen_random_uuid(), 'Orders of merchant ' || ${reference}, sha256(uuidv7()::text::bytea),
      sha256('key') || sha256('key'), 'https://example.com/orders', now() - interval '1 day' - n * interval '1 second'
    from generate_series(1, $2::integer) n`,
};

/**
 * Fills the Tenants up to their sizes with Applications and Proxies, and sets the counters. These rows are older than
 * those the lists show, and bypass the public interface, so that their keys cannot be decrypted.
 */
export async function fillTenants(databaseUrl: string, tenants: readonly FilledTenant[]) {
  await using client = await connectPostgres(databaseUrl);
  const { rows } = await client.query("select pg_get_indexdef('proxies_name'::regclass) as definition");
  await client.query('drop index proxies_name'); // building it anew is ten times as fast
  for (const { tenantId, counts, size } of tenants) {
    for (const table of ['applications', 'proxies'] as const) {
      const missing = size - counts[table];
      await client.query(fills[table], [tenantId, missing]);
      const count = 'update counters set value = value + $1 where ctid = (select min(ctid) from counters where ';
      await client.query(`${count} tenant_id = $2 and counter = $3)`, [missing, tenantId, table]);
    }
  }
  await client.query(rows[0].definition);
  await client.query('vacuum (analyze) applications, proxies, counters');
  await client.query('checkpoint');
}
