import { useStack } from '@sluice/testing';
import {
  createToken,
  type DueKind,
  deleteExpiredTokens,
  forgetDue,
  listDueTenants,
  noteOverlooked,
  updateToken,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';
import type { Actor } from '../token.ts';
import { dueMinutes } from './due-tokens.queries.ts';

const open = useStack(openTestVault);

const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };
const expires_at = '2100-01-01T10:20:30.400Z';

async function noted({ tenantId }: Actor): Promise<[DueKind, string][]> {
  const { db } = open.current;
  const rows = db.selectFrom('due_tokens').select(['kind', 'due_at']).where('tenant_id', '=', tenantId);
  return (await rows.orderBy('kind').orderBy('due_at').execute()).map(({ kind, due_at }) => [kind, due_at]);
}

async function age({ tenantId }: Actor, minutes: number): Promise<void> {
  const due_at = new Date(Date.now() - minutes * 60_000).toISOString();
  await open.current.db.updateTable('due_tokens').set({ due_at }).where('tenant_id', '=', tenantId).execute();
}

test('a creation notes the minutes in which something of it is due, each once, and nothing where nothing is', async () => {
  const { vault, createActor } = open.current;
  const [actor, other] = [await createActor(), await createActor()];
  for (const each of [
    { data: 1, expires_at },
    { data: 2, expires_at: '2100-01-01T10:20:59.999Z' },
    { ...card, expires_at },
  ]) {
    await createToken(vault, actor, each);
  }
  await createToken(vault, other, { data: 1 });
  const [[kind, moment] = [], ...others] = await noted(actor);
  expect(kind).toBe('cvc');
  expect(Date.parse(moment ?? '') % 60_000).toBe(0);
  expect(Math.abs(Date.parse(moment ?? '') - (Date.now() + 3_600_000))).toBeLessThan(120_000);
  expect(others).toEqual([['expiry', '2100-01-01T10:20:00.000Z']]);
  expect(await noted(other)).toEqual([]);
});

test('an update notes what it makes due', async () => {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 1 });
  await updateToken(vault, actor, token.id, { expires_at });
  expect(await noted(actor)).toEqual([['expiry', '2100-01-01T10:20:00.000Z']]);
});

test('a minute is forgotten a minute after its end, when nothing of it is left', async () => {
  const { vault, db, createActor, expire } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 1, expires_at });
  const forget = async () => {
    await forgetDue(db, actor.tenantId, 'expiry');
    return (await noted(actor)).length;
  };
  expect(await listDueTenants(db, 'expiry')).not.toContain(actor.tenantId);
  expect(await forget()).toBe(1);
  await age(actor, 1);
  expect(await listDueTenants(db, 'expiry')).toContain(actor.tenantId);
  expect(await forget()).toBe(1);
  await age(actor, 5);
  await expire(actor, [token.id]);
  expect(await forget()).toBe(1); // another worker may be deleting it, and may fail
  await deleteExpiredTokens(db, actor.tenantId);
  expect(await forget()).toBe(0);
});

test('what an earlier version wrote is noted when it is due, and as of the present minute', async () => {
  const { vault, db, createActor, expire } = open.current;
  const actor = await createActor();
  const { token } = await createToken(vault, actor, { data: 1 });
  await noteOverlooked(db, actor.tenantId);
  expect(await noted(actor)).toEqual([]);
  await expire(actor, [token.id]);
  await noteOverlooked(db, actor.tenantId);
  await forgetDue(db, actor.tenantId, 'expiry');
  expect((await noted(actor)).map(([kind]) => kind)).toEqual(['expiry']);
});

test('minutes come in one order, so that two who note them do not wait for each other for ever', () => {
  const token = (minute: number) => ({ expires_at: `2100-01-01T10:${minute}:30.000Z`, cvc_due_at: null });
  expect(dueMinutes([token(30), token(20)])).toEqual(dueMinutes([token(20), token(30), token(20)]));
});
