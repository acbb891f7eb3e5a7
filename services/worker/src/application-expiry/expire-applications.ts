import { setTimeout as delay } from 'node:timers/promises';
import { tagOf } from '@sluice/cache-coherence';
import type { Context } from '../context.ts';
import { deleteDueApplications, type ExpiredRow, listRemaining } from './application-expiry.queries.ts';

interface Alarm {
  tenant_id: string;
  id: string;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Only cleans up, because Applications count as deleted from `expires_at` on. Alarms of one moment share batches. */
export class ApplicationExpiry {
  readonly #context: Context;
  #ringing: Alarm[] = [];
  #isAnswering = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Rejects, so that the job is retried, where the alarm rang early by the database's clock. */
  onAlarm({ tenant_id, application_id }: { tenant_id: string; application_id: string }): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#ringing.push({ tenant_id, id: application_id, resolve, reject });
    if (!this.#isAnswering) void this.#answerAlarms();
    return promise;
  }

  async sweep(): Promise<void> {
    for (;;) {
      const startedAt = performance.now();
      const deleted = await expireBatch(this.#context);
      if (deleted === 0) return;
      // The pause is as long as the work, so that requests have half of the database
      await delay(performance.now() - startedAt);
    }
  }

  async #answerAlarms(): Promise<void> {
    this.#isAnswering = true;
    while (this.#ringing.length > 0) {
      const answered = this.#ringing;
      this.#ringing = [];
      try {
        await this.sweep();
        const rows = await listRemaining(this.#context.db, answered);
        const remaining = new Map(rows.map((row) => [row.id, row.expires_at]));
        for (const { id, resolve, reject } of answered) {
          const due = remaining.get(id);
          if (due) reject(new Error(`application ${id} is still there; it is due ${due}`));
          else resolve();
        }
      } catch (error) {
        for (const { reject } of answered) reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
    this.#isAnswering = false;
  }
}

async function expireBatch({ db, changes, log, metrics }: Context): Promise<number> {
  const { rows, change } = await db.transaction().execute(async (tx) => {
    const rows = await deleteDueApplications(tx);
    return { rows, change: rows.length > 0 ? await changes.recordEach(tx, tagsByTenant(rows)) : undefined };
  });
  if (!change) return 0;
  const lags = rows.flatMap(({ lag_ms }) => (lag_ms === null ? [] : [lag_ms]));
  for (const lag of lags) metrics.expiryLag.observe(lag / 1000);
  const { waitedMs } = await changes.barrier(change);
  log.info({ applications: lags.length, waited_ms: waitedMs, lag_ms: Math.max(...lags) }, 'applications expired');
  return lags.length;
}

function tagsByTenant(rows: readonly ExpiredRow[]): Map<string, string[]> {
  const tags = new Map<string, string[]>();
  for (const { tenant_id, id, entity } of rows) {
    const ofTenant = tags.get(tenant_id) ?? [];
    ofTenant.push(tagOf[entity](id));
    tags.set(tenant_id, ofTenant);
  }
  return tags;
}
