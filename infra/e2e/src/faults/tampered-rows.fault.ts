import { readFile } from 'node:fs/promises';
import { type CountingDestination, connectPostgres, type HttpAnswer, startCountingDestination } from '@sluice/testing';
import type pg from 'pg';
import type { Node } from '../cluster/node.ts';
import { underLoad } from '../under-load/run.ts';
import { describeAnswer, type Tenant } from '../under-load/tenant.ts';
import { createSecondTenant, type World } from '../under-load/world.ts';

/** By which the destination tells what reached it. */
const caseHeader = 'x-case';

export const tamperedRows = underLoad(
  'tampered-rows',
  'stored ciphertexts and keys are changed and swapped: using them is refused with an alarm, nothing is forwarded, and what is put right works',
  { mostFailed: 0, disturb: tamper },
);

interface Holding {
  tenant: Tenant;
  proxyKey: string;
  tokens: readonly Kept[];
  /** Proxies with a configuration each, whose request transform puts it into the body. */
  configured: readonly (Kept & { key: string })[];
}

interface Kept {
  id: string;
  value: string;
}

/** A name, a statement that changes rows of one table, its parameters, and what uses each of the rows. */
type Case = [name: string, damage: string, parameters: readonly string[], victims: readonly Victim[]];

/** A use of what is damaged, and what it gives when it is not. */
interface Victim {
  where: string;
  value: string;
  node: Node;
  use: (caseName: string) => Promise<HttpAnswer>;
}

async function tamper(world: World): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(await connectPostgres(world.stores.databaseUrl));
  const destination = await startCountingDestination(({ headers }) => String(headers[caseHeader]), stack);
  const one = await createHolding(world, destination);
  const other = await createHolding(await createSecondTenant(world), destination);
  for (const each of casesFor(world, one, other)) await tryCase(world, each, { client, destination });
  await failForSilent(world);
}

async function tryCase(
  { report }: World,
  [name, damage, parameters, victims]: Case,
  { client, destination }: { client: pg.Client; destination: CountingDestination<string> },
): Promise<void> {
  let refused = 0;
  for (const [table] of restored) {
    await client.query(`create temporary table kept_${table} as select * from ${table}`);
  }
  try {
    const { rowCount } = await client.query(damage, [...parameters]);
    report.failIf(!rowCount, `${name}: the test has changed nothing`);
    for (const { node, where, use, value } of victims) {
      const alarmsBefore = await countAlarms(node);
      const answer = await use(name);
      const isRefused = answer.status === 500 && !answer.body.includes(value);
      if (isRefused) refused += 1;
      report.failIf(!isRefused, `${name}: ${where} answered ${describeAnswer(answer)}`);
      report.failIf((await countAlarms(node)) <= alarmsBefore, `${name}: ${where} counted no alarm`);
    }
    const forwarded = destination.seen.get(name) ?? 0;
    report.failIf(forwarded > 0, `${name}: ${forwarded} requests were forwarded`);
  } finally {
    for (const [table, column, ids] of restored) {
      const same = ids.map((id) => `${table}.${id} = kept.${id}`).join(' and ');
      await client.query(
        `update ${table} set ${column} = kept.${column} from kept_${table} kept
         where ${same} and ${table}.${column} is distinct from kept.${column}`,
      );
      await client.query(`drop table kept_${table}`);
    }
  }
  report.figure(name, `refused ${refused} of ${victims.length}, then right again`);
  for (const { where, use, value } of victims) {
    const answer = await use(`${name}, put right`);
    const isRight = answer.status === 200 && answer.body.includes(value);
    report.failIf(!isRight, `${name}: ${where}, put right, answered ${describeAnswer(answer)}`);
  }
}

/** What is damaged: tables, columns, and how their rows are told apart. */
const restored = [
  ['tokens', 'data_ciphertext', ['tenant_id', 'id']],
  ['data_keys', 'wrapped_key', ['tenant_id', 'purpose', 'version']],
  ['proxies', 'configuration_ciphertext', ['tenant_id', 'id']],
] as const;

async function countAlarms({ adminUrl }: Node): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^sluice_integrity_failures_total (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

/** Each process must have logged every alarm that it counted, at level error. Lines come a little later. */
async function failForSilent({ of, pause, report }: World): Promise<void> {
  await pause(1500);
  const isAlarm = (line: string) => line.includes('VAULT_INTEGRITY') && /"level":("error"|50)/.test(line);
  for (const node of of('proxy-gateway', 'token-vault')) {
    const logged = (await readFile(node.logFile, 'utf8')).split('\n').filter(isAlarm).length;
    const counted = await countAlarms(node);
    report.failIf(logged < counted, `${node.name} logged ${logged} of ${counted} alarms`);
  }
}

/** Of each the use is the first in its process, so that nothing of it is in memory. */
function casesFor(world: World, one: Holding, other: Holding): Case[] {
  const [gateway, gateway2] = world.of('proxy-gateway');
  const [, vault] = world.of('token-vault');
  if (!gateway || !gateway2 || !vault) throw new Error('There are too few processes');
  const invoke =
    ({ tenant }: Holding, node: Node, proxyKey: string, body: object) =>
    (name: string) =>
      tenant.invoke(node, { proxyKey, body, headers: { [caseHeader]: name } });
  const invoked = (holding: Holding, at: number, node = gateway): Victim => {
    const { id, value } = holding.tokens[at] as Kept;
    const use = invoke(holding, node, holding.proxyKey, { account: `{{ ${id} }}` });
    return { where: `${node.name}, token`, value, node, use };
  };
  const read = (holding: Holding, at: number): Victim => {
    const { id, value } = holding.tokens[at] as Kept;
    const use = () => holding.tenant.invoke(vault, { body: `{{ ${id} }}` });
    return { where: `${vault.name}, token`, value, node: vault, use };
  };
  const configured = (holding: Holding, at: number, node = gateway): Victim => {
    const { key, value } = holding.configured[at] as Holding['configured'][number];
    return { where: `${node.name}, Proxy`, value, node, use: invoke(holding, node, key, {}) };
  };
  const both = (holding: Holding, at: number) => [invoked(holding, at), read(holding, at)];
  const idsOf = (...kept: (Kept | undefined)[]) => kept.map((each) => each?.id ?? '');
  const flip = (offset: string) =>
    `update tokens set data_ciphertext = set_byte(data_ciphertext, ${offset}, get_byte(data_ciphertext, ${offset}) # 1)
     where id = $1`;
  const swap = (table: string, column: string) =>
    `update ${table} set ${column} = source.${column} from ${table} source
     where (${table}.id::text = $1 and source.id::text = $2) or (${table}.id::text = $2 and source.id::text = $1)`;
  const [a, b] = [one, other];
  const swapTokens = swap('tokens', 'data_ciphertext');
  const swapConfigurations = swap('proxies', 'configuration_ciphertext');
  return [
    [
      'the wrapped data key of another Tenant',
      `update data_keys set wrapped_key = source.wrapped_key from data_keys source
       where data_keys.tenant_id = $1 and source.tenant_id = $2
         and data_keys.purpose = 'token_data' and source.purpose = 'token_data' and source.version = data_keys.version`,
      [b, a].map(({ tenant }) => tenant.credentials.tenant_id),
      [...both(b, 0), invoked(b, 0, gateway2)],
    ],
    ['a flipped bit of the text', flip('length(data_ciphertext) - 1'), idsOf(a.tokens[1]), both(a, 1)],
    ['a flipped bit of the nonce', flip('8'), idsOf(a.tokens[2]), both(a, 2)],
    ['a flipped bit of the key version', flip('4'), idsOf(a.tokens[3]), both(a, 3)],
    ['two tokens of a Tenant swapped', swapTokens, idsOf(a.tokens[4], a.tokens[5]), [...both(a, 4), ...both(a, 5)]],
    ['tokens of two Tenants swapped', swapTokens, idsOf(a.tokens[6], b.tokens[1]), [...both(a, 6), ...both(b, 1)]],
    [
      'configurations of two Proxies swapped',
      swapConfigurations,
      idsOf(a.configured[0], a.configured[1]),
      [configured(a, 0), configured(a, 1), configured(a, 1, gateway2)],
    ],
    [
      'configurations of two Tenants swapped',
      swapConfigurations,
      idsOf(a.configured[2], b.configured[0]),
      [configured(a, 2), configured(b, 0)],
    ],
  ];
}

async function createHolding(tenant: Tenant, { url }: CountingDestination<string>): Promise<Holding> {
  const tokens: Kept[] = [];
  for (let number = 0; number < 7; number++) {
    const value = `value ${number} of ${tenant.credentials.tenant_id}`;
    tokens.push({ id: await tenant.createToken(value), value });
  }
  const configured: Holding['configured'][number][] = [];
  for (let number = 0; number < 3; number++) {
    const value = `setting ${number} of ${tenant.credentials.tenant_id}`;
    const code = 'module.exports = async (req) => ({ body: { setting: req.configuration.SETTING } });';
    const proxy = { destination_url: url, configuration: { SETTING: value }, request_transform: { code } };
    configured.push({ ...(await tenant.createProxy(proxy)), value });
  }
  const proxy = await tenant.createProxy({ destination_url: url });
  return { tenant, proxyKey: proxy.key, tokens, configured };
}
