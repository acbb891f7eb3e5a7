import { isDeepStrictEqual } from 'node:util';
import { countKinds } from '../under-load/count.ts';
import { contradictions, type StoredIds } from '../under-load/known-tokens.ts';
import { underLoad } from '../under-load/run.ts';
import { startTokens } from '../under-load/tokens.ts';
import type { World } from '../under-load/world.ts';
import { killInTurn } from './processes.fault.ts';

const oldTokens = 200;
const settlesWithinMs = 120_000;
const alwaysReported = ['token', 'card', 'bank'];

export const usage = underLoad(
  'usage',
  'token vaults and gateways are killed while tokens are created, used, changed and deleted: counts, last creations and active tokens are exact, and nothing acknowledged is lost',
  {
    environment: { SWEEP_INTERVAL_MS: '3000' },
    async beside(world) {
      await keepDeletedTokens(world);
      const tokens = await startTokens(world, await createOldTokens(world));
      world.judges.push(() => judge(world, tokens));
      return [tokens];
    },
    disturb: (world) => killInTurn(world, ['token-vault', 'proxy-gateway']),
  },
);

/** From now on every token that is deleted leaves a row behind: last creations and active tokens are also about those. */
async function keepDeletedTokens({ query }: World): Promise<void> {
  const columns = 'tenant_id, id, type, active_month, created_at';
  await query(`
    create table if not exists gone_tokens as select ${columns} from tokens where false;
    create or replace function keep_gone_token() returns trigger language plpgsql as $$
      begin
        insert into gone_tokens values (old.tenant_id, old.id, old.type, old.active_month, old.created_at);
        return old;
      end $$;
    create or replace trigger keep_gone_token after delete on tokens for each row execute function keep_gone_token();
    create or replace view every_token as
      select *, active_month = date_trunc('month', now() at time zone 'utc') as is_active
      from (select ${columns}, true as is_there from tokens union all select ${columns}, false from gone_tokens) as each`);
}

/** Tokens that were last active in the month before. No process has them in memory. */
async function createOldTokens({ http, node, query, tokenKey: key, credentials }: World): Promise<string[]> {
  const body = Array.from({ length: oldTokens }, (_, number) => ({ type: 'token', data: `old ${number}` }));
  const request = { method: 'POST', url: `${node('vault-1').url}/tokenize`, key, body };
  const ids = (await http.obtain<{ id: string }[]>(request)).map(({ id }) => id);
  await query(`update tokens set active_month = active_month - interval '1 month' where id = any($1)`, [ids]);
  const ofThem = `where tenant_id = $1 and starts_with(counter, 'active_tokens:')`;
  await query(
    `update counters set value = value - $2 where (tenant_id, counter, slot) =
    (select tenant_id, counter, slot from counters ${ofThem} order by value desc limit 1)`,
    [credentials.tenant_id, oldTokens],
  );
  return ids;
}

async function judge(world: World, { known, answers }: Awaited<ReturnType<typeof startTokens>>): Promise<void> {
  const { report, until } = world;
  report.failIf(!(await until(() => isSettled(world), settlesWithinMs)), 'tokens did not expire');
  const stored = await readStored(world);
  const reported = await readReport(world);
  for (const [action, details] of answers) {
    report.figure(`  ${action}`, countKinds(details));
    report.failIf(details.includes('500'), `${action} was answered 500`);
    report.failIf(!details.some((detail) => /^(20[014]|40[09])$/.test(detail)), `${action} was never decided`);
  }
  report.figure(
    'tokens there, gone, active',
    [stored.there, stored.gone, stored.active].map(({ size }) => size).join(', '),
  );
  report.none('answers that the rows contradict', contradictions(known, stored), String);
  const isExact = async () => isDeepStrictEqual(await readReport(world), await recount(world, stored));
  report.failIf(!(await isExact()), `the usage report ${JSON.stringify(reported)} is not what the rows say`);
  await addToCounter(world, 1);
  report.failIf(await isExact(), 'a counter that is off by one was not noticed');
  await addToCounter(world, -1);
}

function addToCounter({ query, credentials }: World, value: number) {
  return query(
    `update counters set value = value + $2 where (tenant_id, counter, slot) = (select tenant_id, counter, slot
      from counters where tenant_id = $1 and starts_with(counter, 'active_tokens:') order by slot limit 1)`,
    [credentials.tenant_id, value],
  );
}

/** Whether every token that expires is gone, and no session that a killed process left behind is at work. */
async function isSettled({ query }: World): Promise<boolean> {
  const busy = await query(`
    select 1 from tokens where expires_at is not null
    union all select 1 from pg_stat_activity
    where datname = current_database() and state <> 'idle' and query ilike '%tokens%' and pid <> pg_backend_pid()`);
  return busy.length === 0;
}

async function readStored({ query, credentials }: World): Promise<StoredIds> {
  const rows = await query<{ id: string; is_there: boolean; is_active: boolean }>(
    'select id, is_there, is_active from every_token where tenant_id = $1',
    [credentials.tenant_id],
  );
  const idsOf = (some: typeof rows) => new Set(some.map(({ id }) => id));
  return {
    there: idsOf(rows.filter(({ is_there }) => is_there)),
    gone: idsOf(rows.filter(({ is_there }) => !is_there)),
    active: idsOf(rows.filter(({ is_active }) => is_active)),
  };
}

async function readReport({ tryManage }: World) {
  const { body } = await tryManage('GET', '/tenants/self/reports/usage');
  const { metrics_by_type, monthly_active_tokens } = JSON.parse(body).token_report;
  return { metrics_by_type, monthly_active_tokens };
}

/** The report as it must be, counted from the rows; counters are not looked at. */
async function recount({ query, credentials }: World, { active }: StoredIds) {
  const rows = await query<{ type: string; count: number; last_created_at: Date }>(
    `select type, count(*) filter (where is_there)::integer as count, max(created_at) as last_created_at
     from every_token where tenant_id = $1 group by type`,
    [credentials.tenant_id],
  );
  const reported = rows.filter(({ type, count }) => count > 0 || alwaysReported.includes(type));
  const metrics = reported.map(({ type, count, last_created_at }) => {
    return [type, { count, last_created_at: new Date(last_created_at).toISOString() }] as const;
  });
  return {
    metrics_by_type: Object.fromEntries([...alwaysReported.map((type) => [type, { count: 0 }] as const), ...metrics]),
    monthly_active_tokens: active.size,
  };
}
