import { setTimeout as wait } from 'node:timers/promises';
import { connectPostgres, eventually, readSeed, seededRandom, startDestination, useStack } from '@sluice/testing';
import type pg from 'pg';
import { killProcess } from '../cluster/stores.ts';
import { type Platform, startPlatform } from '../platform.ts';
import { countKinds } from '../under-load/count.ts';
import { announce, contradictions, emptyLedger, type Ledger, learn } from './ledger.ts';
import { type LoadOptions, startLoad } from './mixed-load.ts';
import { keepDeletedTokens, readState, recount, type State, setMonthBack } from './recount.ts';

const everyPermission = ['create', 'update', 'read', 'search', 'delete', 'use'].map((name) => `token:${name}`);

const world = useStack(async (closing) => {
  const platform = await startPlatform(closing, { environment: { SWEEP_INTERVAL_MS: '200' } });
  const client = closing.use(await connectPostgres(platform.stack.databaseUrl));
  await keepDeletedTokens(client);
  const destination = await startDestination(closing);
  const { key } = await platform.createApplication({ permissions: everyPermission });
  const updater = await platform.createApplication({ permissions: ['token:update'] });
  const proxy = await platform.createProxy({ destination_url: destination.url });
  return { platform, client, key, updaterKey: updater.key, proxyKey: proxy.key };
});

test('counts, last creations and active tokens are exact after a mixed load with kills, and nothing acknowledged is lost', async () => {
  const { platform, client, ...keys } = world.current;
  const seed = readSeed(process.env.SEED);
  const ledger = emptyLedger();
  const old = await createOldTokens(platform, client, ledger, keys.key);
  // A part of them is never used, and so must not be counted.
  const load: LoadOptions = { platform, ledger, seed, clients: 6, usable: old.slice(20), ...keys };
  const running = startLoad(load);
  const kills = await killAndRestart(platform, seed).finally(() => running.stop());
  await settled(client);

  const report = await readReport(platform);
  const state = await readState(client);
  print(seed, kills, ledger, state);
  expect(report).toEqual(await recount(client));
  expect(contradictions(ledger, state)).toEqual([]);
  expect([...ledger.answers.values()].flat()).not.toContain(500);
  for (const [action, statuses] of ledger.answers) {
    expect([action, statuses.some((status) => [200, 201, 204, 400, 409].includes(status))]).toEqual([action, true]);
  }
  for (const [name, count] of kills) expect([name, count > 0]).toEqual([name, true]);
});

test('the recount finds a counter that is off by one, and the clients know of a token that is lost', async () => {
  const { platform, client } = world.current;
  const counter = `(tenant_id, counter, slot) = (select tenant_id, counter, slot from counters
    where starts_with(counter, 'active_tokens:') limit 1)`;
  await client.query(`update counters set value = value + 1 where ${counter}`);
  expect(await readReport(platform)).not.toEqual(await recount(client));
  await client.query(`update counters set value = value - 1 where ${counter}`);
  expect(await readReport(platform)).toEqual(await recount(client));

  const ledger = emptyLedger();
  announce(ledger, ['lost', 'unused']);
  for (const fact of ['created', 'active'] as const) learn(ledger, ['lost', 'unused'], fact, 'yes');
  ledger.batches.push({ ids: ['lost', 'unused'], created: 'maybe' });
  const state = { rows: new Set(['unused']), gone: new Set<string>(), active: new Set<string>() };
  expect(contradictions(ledger, state)).toHaveLength(5);
});

test('a token counts as active though its row was locked by another change when it was used', async () => {
  const { platform, client, key } = world.current;
  const created = await platform.call('POST', '/tokens', { key, body: { data: 'text' } });
  const { id } = created.body;
  const before = (await readReport(platform)).monthly_active_tokens;
  await client.query(`update tokens set active_month = active_month - interval '1 month' where id = $1`, [id]);
  await client.query('begin');
  await client.query('select from tokens where id = $1 for update', [id]);
  const reading = platform.call('GET', `/tokens/${id}`, { key });
  await wait(300);
  await client.query('commit');
  expect((await reading).status).toBe(200);
  expect((await readReport(platform)).monthly_active_tokens).toBe(before + 1);
});

/**
 * Kills processes with SIGKILL, one after another at random moments for some time, each of them at least once, and starts
 * each again. @returns how often each was killed.
 */
async function killAndRestart({ stack }: Platform, seed: number): Promise<Map<string, number>> {
  const random = seededRandom(seed);
  const names = ['token-vault', 'proxy-gateway'];
  const kills = new Map(names.map((name) => [name, 0]));
  const endsAt = performance.now() + 14_000;
  for (let i = 0; i < 8 && (i < names.length || performance.now() < endsAt); i++) {
    await wait(random.between(100, 900));
    const name = names[i] ?? random.pick(names);
    await killProcess(stack.processes, name);
    kills.set(name, (kills.get(name) ?? 0) + 1);
    await stack.restart(name);
  }
  return kills;
}

/** Tokens that were last active in the month before. No process has them in memory. */
async function createOldTokens(platform: Platform, client: pg.Client, ledger: Ledger, key: string): Promise<string[]> {
  const ids = Array.from({ length: 200 }, (_, i) => `old-${i}`);
  announce(ledger, ids);
  const body = ids.map((id) => ({ id, type: 'token', data: `text of ${id}` }));
  expect((await platform.call('POST', '/tokenize', { key, body })).status).toBe(200);
  await setMonthBack(client);
  learn(ledger, ids, 'created', 'yes');
  for (const id of ids) Object.assign(ledger.tokens.get(id) ?? {}, { active: 'no' });
  return ids;
}

async function readReport(platform: Platform) {
  const { status, body } = await platform.manage('GET', '/tenants/self/reports/usage');
  expect(status).toBe(200);
  const { metrics_by_type, monthly_active_tokens } = body.token_report;
  return { metrics_by_type, monthly_active_tokens };
}

/** Until no session that a killed process left behind is at work, and every token that expires has been deleted. */
async function settled(client: pg.Client): Promise<void> {
  const count = async (query: string) => Number((await client.query(query)).rows[0].count);
  await eventually('tokens expire', async () => {
    return (await count('select count(*) from tokens where expires_at is not null')) === 0;
  });
  await eventually('all sessions are idle', async () => {
    const busy = `select count(*) from pg_stat_activity
      where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`;
    return (await count(busy)) === 0;
  });
}

function print(seed: number, kills: Map<string, number>, ledger: Ledger, state: State): void {
  const lines = [
    `seed ${seed}; killed: ${[...kills].map(([name, count]) => `${name} ${count}`).join(', ')}`,
    `tokens: ${state.rows.size} there, ${state.gone.size} deleted or expired, ${state.active.size} active this month`,
    ...Array.from(ledger.answers, ([action, statuses]) => `  ${action.padEnd(26)}${countKinds(statuses)}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
