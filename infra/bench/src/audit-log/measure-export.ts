import { once } from 'node:events';
import { get } from 'node:http';
import pg from 'pg';
import type { Comparison } from '../benchmark.ts';
import { memoryOf, resetPeakMemory } from '../machine/process-facts.ts';
import { median } from '../report/statistics.ts';

export interface ExportOptions {
  databaseUrl: string;
  managementApi: string;
  pid: number | undefined;
  tenant: { tenantId: string; headers: Record<string, string> };
  rows: number;
  rounds: number;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** How much an export of any size may add to the memory of the process, in MiB. */
const mostMemory = 100;

/** Compares a whole export with `COPY` of the same rows, in turns, and measures the peak growth of the process. */
export async function measureExport(options: ExportOptions): Promise<Comparison[]> {
  const { rounds, pid, rows, log } = options;
  const [ours, peer, grown]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= rounds; round++) {
    await resetPeakMemory(pid);
    const before = await memoryOf(pid, 'VmRSS');
    const exported = await timed(() => exportAll(options));
    const memory = (await memoryOf(pid, 'VmHWM')) - before;
    const copied = await timed(() => copyAll(options));
    if (round === 0) continue; // caches are cold
    ours.push(exported);
    peer.push(copied);
    grown.push(Math.max(1, memory));
  }
  const each = (rows / median(ours)).toFixed(0);
  log(
    `  export ${median(ours).toFixed(1)} s (${each} rows/s), COPY ${median(peer).toFixed(1)} s, ${median(grown).toFixed(0)} MiB more`,
  );
  const limit = grown.map(() => mostMemory);
  return [
    { unit: 's', ours, peer, peerName: `COPY of ${rows.toLocaleString('en')} rows`, goal: { atMost: 2 }, errors: 0 },
    {
      unit: 'MiB',
      ours: grown,
      peer: limit,
      peerName: 'export: limit of memory it adds',
      goal: { atMost: 1 },
      errors: 0,
    },
  ];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

async function exportAll({ managementApi, tenant, rows, signal }: ExportOptions): Promise<void> {
  const request = get(`${managementApi}/logs/export`, { headers: tenant.headers, signal });
  const [answer] = await once(request, 'response');
  let lines = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  if (lines !== rows) throw new Error(`The export has ${lines} lines, not ${rows}`);
}

/** Discards the rows in the server, because no client could take them faster. */
async function copyAll({ databaseUrl, tenant }: ExportOptions): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`copy (
      select log.*, leaf.leaf_index, leaf.leaf_hash from ledger_leaves as leaf
      join audit_log as log on log.tenant_id = leaf.tenant_id and log.at = leaf.at and log.id = leaf.log_id
      where leaf.tenant_id = '${tenant.tenantId}' order by leaf.leaf_index
    ) to program 'cat > /dev/null'`);
  } finally {
    await client.end();
  }
}
