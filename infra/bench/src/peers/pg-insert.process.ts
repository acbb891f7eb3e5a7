import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import pg from 'pg';

/** Measures the bare INSERT of a token over pg; {@link startInsertPeer} starts this. */
const { DATABASE_URL, TENANT_ID, TOKEN_ID, POOL_SIZE, CONCURRENCY } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) });
const columns = `tenant_id, id, type, data_ciphertext, mask, containers, metadata, fingerprint, active_month, created_by`;
const { rows } = await pool.query({
  text: `select ${columns} from tokens where tenant_id = $1 and id = $2`,
  values: [TENANT_ID, TOKEN_ID],
  rowMode: 'array',
});
const [row] = rows as unknown[][];
if (!row) throw new Error('There is no such token');
const text = `insert into tokens (${columns}) values (${row.map((_, i) => `$${i + 1}`).join(', ')})`;
const [tenantId, , ...rest] = row;

async function insertUntil(deadline: number): Promise<number> {
  let count = 0;
  while (performance.now() < deadline) {
    await pool.query({ text, values: [tenantId, randomUUID(), ...rest] });
    count++;
  }
  return count;
}

/** @returns INSERTs a second. */
async function measure(seconds: number): Promise<number> {
  const start = performance.now();
  const loops = Array.from({ length: Number(CONCURRENCY) }, () => insertUntil(start + seconds * 1000));
  const counts = await Promise.all(loops);
  return (1000 * counts.reduce((sum, count) => sum + count, 0)) / (performance.now() - start);
}

// Each line of standard input asks for a measurement of as many seconds; the process ends with it.
for await (const line of createInterface(process.stdin)) console.log(await measure(Number(line)));
process.exit();
