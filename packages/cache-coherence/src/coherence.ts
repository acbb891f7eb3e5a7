import type { Database } from '@sluice/database';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { openBus } from './bus.ts';
import { type ChangeWriter, type InPart, openChangeWriter } from './change-writer.ts';
import { type CoherentCaches, openCoherentCaches } from './coherent-caches.ts';

export interface CoherenceOptions {
  DATABASE_URL: string;
  REDIS_URL: string;
  db: Database;
  own?: Database;
  service: string;
  log: Logger;
  metrics: Registry;
  stack: AsyncDisposableStack;
  inPart?: InPart | undefined;
}

export interface Coherence {
  caches: CoherentCaches;
  changes: ChangeWriter;
}

export async function openCoherence(options: CoherenceOptions): Promise<Coherence> {
  const bus = openBus({ ...options, redisUrl: options.REDIS_URL });
  const caches = await openCoherentCaches({ ...options, databaseUrl: options.DATABASE_URL, bus });
  return { caches, changes: openChangeWriter({ ...options, bus, caches }) };
}
