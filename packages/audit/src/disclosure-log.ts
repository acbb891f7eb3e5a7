import type { Database } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { sql } from 'kysely';

/** One invocation or read that gave plaintext away. */
export interface Disclosure {
  tenantId: string;
  /** The Application; null for what no Application asked for. */
  actorId: string | null;
  traceId: string | null;
  /** `token.read`, `token.detokenized`, `proxy.invoked`, `transform.detokenized`. */
  operation: string;
  entityType: 'token' | 'proxy';
  entityId: string;
  /** Token ids, destination host, outcome. Never a value. */
  detail: { token_ids: readonly string[]; destination_host?: string; outcome?: string };
}

export interface DisclosureLog {
  /**
   * Notes a disclosure that is about to happen. The row is written within `flushIntervalMs`.
   * @throws {ServiceError} `unavailable` when rows cannot be stored: what cannot be recorded is not disclosed.
   */
  record(disclosure: Disclosure): void;
}

export interface DisclosureLogOptions {
  db: Database;
  stack: AsyncDisposableStack;
  /** Told of each batch that could not be written; it stays queued and is tried again. */
  onError: (error: unknown) => void;
  /** How many disclosures may wait. */
  queueLimit?: number;
  flushIntervalMs?: number;
}

const batchSize = 1000;

interface QueuedDisclosure extends Disclosure {
  at: string;
}

/** Opens the log. On disposal what is queued is written before it closes. */
export function openDisclosureLog(options: DisclosureLogOptions): DisclosureLog {
  const { db, stack, onError, queueLimit = 10_000, flushIntervalMs = 100 } = options;
  let queue: QueuedDisclosure[] = [];
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchSize);
      await insertDisclosures(db, batch);
      queue = queue.slice(batch.length);
    }
  }

  function flushOnce(): Promise<void> {
    flushing ??= flush().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  const timer = setInterval(() => {
    if (queue.length > 0) flushOnce().catch(onError);
  }, flushIntervalMs);

  stack.defer(async () => {
    clearInterval(timer);
    await flushOnce();
    await flushOnce();
  });

  return {
    record(disclosure) {
      if (queue.length >= queueLimit) {
        throw new ServiceError('unavailable', 'Disclosures cannot be recorded at the moment; nothing is disclosed', {
          retryAfterSeconds: 1,
        });
      }
      queue.push({ ...disclosure, at: new Date().toISOString() });
    },
  };
}

/** One statement and one parameter, however many rows. */
async function insertDisclosures(db: Database, batch: readonly QueuedDisclosure[]): Promise<void> {
  const rows = batch.map((entry) => ({
    tenant_id: entry.tenantId,
    at: entry.at,
    actor_id: entry.actorId,
    trace_id: entry.traceId,
    operation: entry.operation,
    entity_type: entry.entityType,
    entity_id: entry.entityId,
    detail: entry.detail,
  }));
  await sql`
    insert into audit_log (tenant_id, at, actor_id, trace_id, operation, entity_type, entity_id, detail)
    select tenant_id, at, actor_id, trace_id, operation, entity_type, entity_id, detail
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(
      tenant_id uuid, at timestamptz, actor_id uuid, trace_id text,
      operation text, entity_type text, entity_id text, detail jsonb)
  `.execute(db);
}
