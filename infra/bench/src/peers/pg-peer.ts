import { join } from 'node:path';
import type { BenchmarkContext } from '../benchmark.ts';
import { connections, type LoadFigures } from '../load/load-generator.ts';
import { startProgram } from '../processes/owned-process.ts';
import type { BenchmarkStack } from '../stack/start-benchmark-stack.ts';

/** The default pool size of a service. */
export const poolSize = 16;

/** What the process does, by its tables in the stack's own Tenant. */
export interface PgTask {
  databaseUrl: string;
  tenantId: string;
  poolSize: number;
  /** Statements that run or wait for a connection. */
  concurrency: number;
  /** Inserts the row of this token under new ids. */
  tokenId?: string;
  /** Selects the row of this Application. */
  applicationId?: string;
  isPrepared?: boolean;
}

export interface PgPeer {
  name: string;
  pid: number;
  /** Its rate; latencies are not measured. @throws when it failed. */
  measure(seconds: number): Promise<LoadFigures>;
}

/** Starts a process on the measured core that only runs one statement through a pool of pg, as large as a service's. */
export async function startPgPeer(
  context: BenchmarkContext,
  { databaseUrl, credentials }: BenchmarkStack,
  { name, ...row }: { name: string } & Pick<PgTask, 'tokenId' | 'applicationId' | 'isPrepared'>,
  opened: AsyncDisposableStack,
): Promise<PgPeer> {
  const { directory, cores, signal } = context;
  const task: PgTask = { databaseUrl, tenantId: credentials.tenant_id, poolSize, concurrency: connections, ...row };
  const file = join(import.meta.dirname, 'pg-peer.process.ts');
  const logFile = join(directory, `${name}.log`);
  const peer = opened.use(await startProgram({ file, env: { TASK: JSON.stringify(task) }, logFile, signal }));
  await cores.moveToTestedCore(peer.pid);
  return {
    name,
    pid: peer.pid,
    async measure(seconds) {
      peer.say(String(seconds));
      const requestsPerSecond = Number(await peer.nextLine(seconds * 1000 + 10_000));
      return { requestsPerSecond, p50Ms: Number.NaN, p99Ms: Number.NaN, errors: 0 };
    },
  };
}
