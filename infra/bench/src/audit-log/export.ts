import { once } from 'node:events';
import { get } from 'node:http';
import { connectPostgres } from '@sluice/testing';
import { type Benchmark, type BenchmarkContext, limited, type Outcome } from '../benchmark.ts';
import { memoryOf, resetPeakMemory } from '../machine/process-facts.ts';
import { inTurns } from '../rounds.ts';
import { startLogStack } from './large-log.ts';

export const logExport: Benchmark = {
  id: 'P15-EXPORT',
  name: 'audit',
  work: 'GET /logs/export of a whole log',
  goal: 'at most 2 × the time of COPY, and 100 MiB more memory',
  peerName: 'COPY of the same rows',
  run: measureExport,
};

/** How much an export of any size may add to the memory of the process, in MiB. */
const mostMemory = 100;

/** Compares a whole export with `COPY` of the same rows, in turns, and measures the peak growth of the process. */
async function measureExport(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { stack, large } = await startLogStack(context, opened);
  const { pid, databaseUrl, serviceUrls } = stack;
  const turns = [
    {
      name: 'export',
      async measure() {
        await resetPeakMemory(pid);
        const before = await memoryOf(pid, 'VmRSS');
        const seconds = await timed(async () => {
          const lines = await countLines(`${serviceUrls.managementApi}/logs/export`, large.headers, context.signal);
          if (lines !== large.rows) throw new Error(`The export has ${lines} lines, not ${large.rows}`);
        });
        return { seconds, grown: Math.max(1, (await memoryOf(pid, 'VmHWM')) - before) };
      },
    },
    {
      name: 'COPY',
      measure: async () => ({ seconds: await timed(() => copyAll(databaseUrl, large.tenantId)), grown: 0 }),
    },
  ];
  const show = ({ seconds, grown }: { seconds: number; grown: number }) =>
    `${seconds.toFixed(1)} s (${(large.rows / seconds).toFixed(0)} rows/s), ${grown.toFixed(0)} MiB more`;
  const [exported = [], copied = []] = await inTurns(context, turns, show);
  const [ours, peer] = [exported, copied].map((rounds) => rounds.map(({ seconds }) => seconds)) as [number[], number[]];
  const grown = exported.map((round) => round.grown);
  const peerName = `COPY of ${large.rows.toLocaleString('en')} rows`;
  return {
    comparisons: [
      { unit: 's', ours, peer, peerName, goal: { atMost: 2 }, errors: 0 },
      limited('MiB', grown, { limit: mostMemory, name: 'export: limit of memory it adds' }),
    ],
    paths: [],
    notes: [],
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

async function countLines(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<number> {
  const [answer] = await once(get(url, { headers, signal }), 'response');
  let lines = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return lines;
}

/** Discards the rows in the server, because no client could take them faster. */
async function copyAll(databaseUrl: string, tenantId: string): Promise<void> {
  await using client = await connectPostgres(databaseUrl);
  await client.query(`copy (
    select log.*, leaf.leaf_index, leaf.leaf_hash from ledger_leaves as leaf
    join audit_log as log on log.tenant_id = leaf.tenant_id and log.at = leaf.at and log.id = leaf.log_id
    where leaf.tenant_id = '${tenantId}' order by leaf.leaf_index
  ) to program 'cat > /dev/null'`);
}
