import { randomUUID } from 'node:crypto';
import { addToCounter, readCounter } from '@sluice/database';
import { serviceLogger } from '@sluice/service-runtime';
import { eventually, openTestDatabase, randomSecrets, startTestService, useStack } from '@sluice/testing';
import { noteDue } from '@sluice/vault';
import { configSchema } from '../config.ts';
import { start } from '../service.ts';
import { testRows } from '../testing/test-rows.ts';
import { sweepDueCvcs, sweepExpiredTokens } from './sweep-tokens.ts';

const log = serviceLogger({ service: 'test', level: 'silent' });
const past = new Date(Date.now() - 1000).toISOString();
const future = '2999-01-01T00:00:00.000Z';

const stores = useStack(async (stack) => {
  const { db, url: databaseUrl } = await openTestDatabase(stack);
  return { db, databaseUrl, rows: testRows(db), context: { db, log } };
});

interface Dates {
  expires_at?: string;
  cvc_due_at?: string;
}

async function insertTokens(tenant_id: string, count: number, { expires_at, cvc_due_at }: Dates): Promise<string[]> {
  const { db } = stores.current;
  const row = {
    ...{ tenant_id, type: 'card', data_ciphertext: Buffer.from('x'), containers: ['/'], metadata: '{}' },
    ...{ active_month: '2026-01-01', expires_at: expires_at ?? null, cvc_due_at: cvc_due_at ?? null },
    cvc_ciphertext: cvc_due_at === undefined ? null : Buffer.from('y'),
  };
  const ids = Array.from({ length: count }, () => randomUUID());
  await db
    .insertInto('tokens')
    .values(ids.map((id) => ({ ...row, id })))
    .execute();
  await noteDue(db, tenant_id, [row]);
  await addToCounter(db, tenant_id, 'tokens:card', count);
  return ids;
}

async function tokensOf(tenantId: string) {
  const rows = stores.current.db.selectFrom('tokens').select(['id', 'cvc_ciphertext', 'cvc_due_at']);
  return rows.where('tenant_id', '=', tenantId).execute();
}

async function audited(tenantId: string, operation: string): Promise<string[]> {
  const rows = await stores.current.db
    .selectFrom('audit_log')
    .select('entity_id')
    .where('tenant_id', '=', tenantId)
    .where('operation', '=', operation)
    .execute();
  return rows.map(({ entity_id }) => entity_id).sort();
}

test('a sweep deletes every expired token of all Tenants, more than fit in a batch, and no other', async () => {
  const { db, rows, context } = stores.current;
  const tenants = [await rows.tenant(), await rows.tenant()];
  for (const tenantId of tenants) {
    const expired = await insertTokens(tenantId, 600, { expires_at: past });
    const kept = [
      ...(await insertTokens(tenantId, 1, { expires_at: future })),
      ...(await insertTokens(tenantId, 1, {})),
    ];
    await sweepExpiredTokens(context);
    expect((await tokensOf(tenantId)).map(({ id }) => id).sort()).toEqual(kept.sort());
    expect(await readCounter(db, tenantId, 'tokens:card')).toBe(2);
    expect(await audited(tenantId, 'expire')).toEqual(expired.sort());
  }
});

test('a sweep removes every verification code that is due, and no other', async () => {
  const { rows, context } = stores.current;
  const tenantId = await rows.tenant();
  const due = await insertTokens(tenantId, 600, { cvc_due_at: past });
  const [kept] = await insertTokens(tenantId, 1, { cvc_due_at: future });
  await sweepDueCvcs(context);
  const left = (await tokensOf(tenantId)).filter(({ cvc_ciphertext }) => cvc_ciphertext !== null);
  expect(left).toEqual([{ id: kept, cvc_ciphertext: Buffer.from('y'), cvc_due_at: future }]);
  expect(await audited(tenantId, 'update')).toEqual(due.sort());
  expect(await readCounter(stores.current.db, tenantId, 'tokens:card')).toBe(601);
});

test('two running workers, which have no key, do both, once each', async () => {
  await using stack = new AsyncDisposableStack();
  const { databaseUrl, rows, db } = stores.current;
  const tenantId = await rows.tenant();
  const soon = new Date(Date.now() + 500).toISOString();
  const expired = await insertTokens(tenantId, 40, { expires_at: soon });
  const due = await insertTokens(tenantId, 40, { cvc_due_at: soon });
  const options = { databaseUrl, secrets: randomSecrets(), stack, settings: { SWEEP_INTERVAL_MS: '100' } };
  await startTestService({ configSchema, start }, options);
  await startTestService({ configSchema, start }, options);
  await eventually('swept', async () => {
    const left = await tokensOf(tenantId);
    return left.length === 40 && left.every(({ cvc_due_at }) => cvc_due_at === null);
  });
  expect(await audited(tenantId, 'expire')).toEqual(expired.sort());
  expect(await audited(tenantId, 'update')).toEqual(due.sort());
  expect(await readCounter(db, tenantId, 'tokens:card')).toBe(40);
});
