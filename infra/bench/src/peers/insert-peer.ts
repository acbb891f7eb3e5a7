import { type MeasuredProcess, startMeasuredProcess } from './measured-process.ts';

export interface InsertPeerOptions {
  databaseUrl: string;
  /** The token whose row is copied under new ids. */
  tenantId: string;
  tokenId: string;
  /** Connections to Postgres. */
  poolSize: number;
  /** INSERTs that run or wait for a connection. */
  concurrency: number;
  logFile: string;
  signal: AbortSignal;
}

/** Starts a process that only inserts a row through a pool of pg. */
export function startInsertPeer({ logFile, signal, ...options }: InsertPeerOptions): Promise<MeasuredProcess> {
  const env = {
    DATABASE_URL: options.databaseUrl,
    TENANT_ID: options.tenantId,
    TOKEN_ID: options.tokenId,
    POOL_SIZE: String(options.poolSize),
    CONCURRENCY: String(options.concurrency),
  };
  return startMeasuredProcess({ file: 'pg-insert.process.ts', env, logFile, signal });
}
