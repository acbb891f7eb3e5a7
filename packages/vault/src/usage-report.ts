import type { Queryable } from '@sluice/database';
import { sql } from 'kysely';
import { monthOf } from './tokens/read/activity.ts';

export interface TokenTypeMetrics {
  count: number;
  /** ISO 8601; absent if no token of the type was ever created. */
  last_created_at?: string;
}

export interface TokenUsage {
  /** `token`, `card`, `bank`, and every other type in use. */
  metrics_by_type: Record<string, TokenTypeMetrics>;
  /** Distinct tokens created, read or used in this UTC month. */
  monthly_active_tokens: number;
}

const alwaysReported = ['token', 'card', 'bank'];
const typePrefix = 'tokens:';

/** Reads counters, so its cost does not depend on the number of tokens. */
export async function readTokenUsage(db: Queryable, tenantId: string, now: Date): Promise<TokenUsage> {
  const activeCounter = `active_tokens:${monthOf(now)}`;
  const rows = await db
    .selectFrom('counters')
    .select((eb) => [
      'counter',
      eb.cast<number>(eb.fn.sum('value'), 'bigint').as('value'),
      eb.fn.max('last_at').as('last_at'),
    ])
    .where('tenant_id', '=', tenantId)
    .where((eb) => eb.or([eb('counter', '=', activeCounter), sql<boolean>`starts_with(counter, ${typePrefix})`]))
    .groupBy('counter')
    .orderBy('counter')
    .execute();
  const metrics = new Map<string, TokenTypeMetrics>(alwaysReported.map((type) => [type, { count: 0 }]));
  for (const { counter, value, last_at } of rows) {
    const type = counter.slice(typePrefix.length);
    if (counter === activeCounter || (value === 0 && !alwaysReported.includes(type))) continue;
    metrics.set(type, { count: value, ...(last_at !== null && { last_created_at: last_at }) });
  }
  return {
    metrics_by_type: Object.fromEntries(metrics),
    monthly_active_tokens: rows.find(({ counter }) => counter === activeCounter)?.value ?? 0,
  };
}
