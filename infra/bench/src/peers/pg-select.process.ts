import { createInterface } from 'node:readline';
import pg from 'pg';

/** Measures a bare SELECT over pg; {@link startSelectPeer} starts this. */
const { DATABASE_URL, TENANT_ID, APPLICATION_ID, POOL_SIZE, CONCURRENCY, IS_PREPARED } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) });
const statement = {
  text: `select id, tenant_id, name, type, permissions, rules, expires_at, created_by, created_at, modified_by, modified_at
    from applications where tenant_id = $1 and id = $2`,
  values: [TENANT_ID, APPLICATION_ID],
  ...(IS_PREPARED && { name: 'application' }),
};

async function selectUntil(deadline: number): Promise<number> {
  let count = 0;
  while (performance.now() < deadline) {
    const { rows } = await pool.query(statement);
    if (rows[0].id !== APPLICATION_ID) throw new Error('There is no such row');
    count++;
  }
  return count;
}

/** @returns SELECTs a second. */
async function measure(seconds: number): Promise<number> {
  const start = performance.now();
  const loops = Array.from({ length: Number(CONCURRENCY) }, () => selectUntil(start + seconds * 1000));
  const counts = await Promise.all(loops);
  return (1000 * counts.reduce((sum, count) => sum + count, 0)) / (performance.now() - start);
}

// Each line of standard input asks for a measurement of as many seconds; the process ends with it.
for await (const line of createInterface(process.stdin)) console.log(await measure(Number(line)));
process.exit();
