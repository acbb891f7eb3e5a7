import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startOwned } from '../processes/owned-process.ts';

export interface SelectPeerOptions {
  databaseUrl: string;
  /** The row: an Application. */
  tenantId: string;
  applicationId: string;
  /** Connections to Postgres. */
  poolSize: number;
  /** SELECTs that are under way or wait for a connection. */
  concurrency: number;
  isPrepared: boolean;
  logFile: string;
  signal: AbortSignal;
}

export interface SelectPeer extends AsyncDisposable {
  pid: number | undefined;
  /** @returns SELECTs a second. @throws when one failed. */
  measure(seconds: number): Promise<number>;
}

/** Starts a process that does nothing but to select one row through a pool of pg. */
export async function startSelectPeer(options: SelectPeerOptions): Promise<SelectPeer> {
  const { logFile, signal } = options;
  const env = {
    DATABASE_URL: options.databaseUrl,
    TENANT_ID: options.tenantId,
    APPLICATION_ID: options.applicationId,
    POOL_SIZE: String(options.poolSize),
    CONCURRENCY: String(options.concurrency),
    ...(options.isPrepared && { IS_PREPARED: 'true' }),
  };
  const args = [join(import.meta.dirname, 'pg-select.process.ts')];
  const started = await startOwned({ command: process.execPath, args, env, logFile, readsOutput: true });
  const { stdin, stdout } = started.child;
  if (!stdin || !stdout) throw new Error('Standard input and output are not pipes');
  const lines = createInterface(stdout);
  return {
    ...started,
    async measure(seconds) {
      const bounds = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000 + 10_000)]);
      const answered = once(lines, 'line', { signal: bounds });
      stdin.write(`${seconds}\n`);
      try {
        return Number((await answered)[0]);
      } catch (cause) {
        signal.throwIfAborted();
        throw new Error(`The SELECTs failed; see ${logFile}`, { cause });
      }
    },
  };
}
