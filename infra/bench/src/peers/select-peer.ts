import { type MeasuredProcess, startMeasuredProcess } from './measured-process.ts';

export interface SelectPeerOptions {
  databaseUrl: string;
  /** The row of an Application. */
  tenantId: string;
  applicationId: string;
  /** Connections to Postgres. */
  poolSize: number;
  /** SELECTs that run or wait for a connection. */
  concurrency: number;
  isPrepared: boolean;
  logFile: string;
  signal: AbortSignal;
}

/** Starts a process that only selects a row through a pool of pg. */
export function startSelectPeer({ logFile, signal, ...options }: SelectPeerOptions): Promise<MeasuredProcess> {
  const env = {
    DATABASE_URL: options.databaseUrl,
    TENANT_ID: options.tenantId,
    APPLICATION_ID: options.applicationId,
    POOL_SIZE: String(options.poolSize),
    CONCURRENCY: String(options.concurrency),
    ...(options.isPrepared && { IS_PREPARED: 'true' }),
  };
  return startMeasuredProcess({ file: 'pg-select.process.ts', env, logFile, signal });
}
