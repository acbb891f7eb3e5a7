import { type MeasuredProcess, startMeasuredProcess } from './measured-process.ts';

export interface InsertPeerOptions {
  databaseUrl: string;
  /** The row that is copied under new ids: a token. */
  tenantId: string;
  tokenId: string;
  /** Connections to Postgres. */
  poolSize: number;
  /** INSERTs that are under way or wait for a connection. */
  concurrency: number;
  logFile: string;
  signal: AbortSignal;
}

/** Starts a process that does nothing but to insert one row through a pool of pg. */
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
