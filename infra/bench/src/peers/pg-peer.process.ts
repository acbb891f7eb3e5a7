import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import pg from 'pg';
import type { PgTask } from './pg-peer.ts';

/** Measures a bare statement over pg; {@link startPgPeer} starts this. */
const task = JSON.parse(process.env.TASK ?? '') as PgTask;
const { databaseUrl, tenantId, tokenId, applicationId, isPrepared } = task;
const pool = new pg.Pool({ connectionString: databaseUrl, max: task.poolSize });

const run = tokenId === undefined ? select() : await insert();

function select(): () => Promise<void> {
  const statement = {
    text: `select id, tenant_id, name, type, permissions, rules, expires_at, created_by, created_at, modified_by, modified_at
      from applications where tenant_id = $1 and id = $2`,
    values: [tenantId, applicationId],
    ...(isPrepared && { name: 'application' }),
  };
  return async () => {
    const { rows } = await pool.query(statement);
    if (rows[0].id !== applicationId) throw new Error('There is no such row');
  };
}

async function insert(): Promise<() => Promise<void>> {
  const columns = `tenant_id, id, type, data_ciphertext, mask, containers, metadata, fingerprint, active_month, created_by`;
  const { rows } = await pool.query({
    text: `select ${columns} from tokens where tenant_id = $1 and id = $2`,
    values: [tenantId, tokenId],
    rowMode: 'array',
  });
  const [row] = rows as unknown[][];
  if (!row) throw new Error('There is no such token');
  const text = `insert into tokens (${columns}) values (${row.map((_, i) => `$${i + 1}`).join(', ')})`;
  const [tenant, , ...rest] = row;
  return async () => {
    await pool.query({ text, values: [tenant, randomUUID(), ...rest] });
  };
}

async function countUntil(deadline: number): Promise<number> {
  let count = 0;
  while (performance.now() < deadline) {
    await run();
    count++;
  }
  return count;
}

/** @returns statements a second. */
async function measure(seconds: number): Promise<number> {
  const start = performance.now();
  const loops = Array.from({ length: task.concurrency }, () => countUntil(start + seconds * 1000));
  const counts = await Promise.all(loops);
  return (1000 * counts.reduce((sum, count) => sum + count, 0)) / (performance.now() - start);
}

// Each line of standard input asks for a measurement of as many seconds; the process ends with it.
for await (const line of createInterface(process.stdin)) console.log(await measure(Number(line)));
process.exit();
