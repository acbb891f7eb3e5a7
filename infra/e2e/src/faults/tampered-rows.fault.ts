import { readFile } from 'node:fs/promises';
import { type CountingDestination, type HttpAnswer, startCountingDestination } from '@sluice/testing';
import type pg from 'pg';
import type { Node } from '../cluster/node.ts';
import { connectStore } from '../under-load/audit-log.ts';
import { describeAnswer, openRequests, openSecondTenant, type Requests } from '../under-load/requests.ts';
import { type Disturbance, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

/** By which the destination tells what reached it. */
const caseHeader = 'x-case';

export const tamperedRows = underLoad(
  'tampered-rows',
  'stored ciphertexts and keys are changed and swapped: using them is refused with an alarm, nothing is forwarded, and what is put right works',
  { mostFailed: 0, disturb: tamper },
);

/** What belongs to one Tenant. */
interface Holding {
  tenantId: string;
  requests: Requests;
  proxyKey: string;
  tokens: readonly Kept[];
  /** Proxies with a configuration each, whose request transform puts it into the body. */
  configured: readonly (Kept & { key: string })[];
}

interface Kept {
  id: string;
  value: string;
}

interface Case {
  name: string;
  /** Changes rows of one table; each belongs to one of the `victims`. */
  damage: string;
  parameters: readonly string[];
  victims: readonly Victim[];
}

/** A use of what is damaged, and what it gives when it is not. */
interface Victim {
  where: string;
  value: string;
  node: Node;
  use: (caseName: string) => Promise<HttpAnswer>;
}

const tables = ['tokens', 'data_keys', 'proxies'] as const;

async function tamper(world: World): Promise<Disturbance> {
  await using stack = new AsyncDisposableStack();
  const client = await connectStore(world, stack);
  const destination = await startCountingDestination(({ headers }) => String(headers[caseHeader]), stack);
  const one = await openHolding(world, destination, stack);
  const other = await openHolding(await openSecondTenant(world, stack), destination, stack);
  const failures: string[] = [];
  const figures: [string, string][] = [];
  for (const each of casesFor(world, one, other)) {
    const { failures: found, refused } = await tryCase(each, { client, destination });
    failures.push(...found.map((failure) => `${each.name}: ${failure}`));
    figures.push([each.name, `refused ${refused} of ${each.victims.length}, then right again`]);
  }
  const silent = await findSilent([...world.of('proxy-gateway'), ...world.of('token-vault')], world);
  return { figures, failures: [...failures, ...silent] };
}

/** Damages, uses, puts right, and uses again. */
async function tryCase(
  { name, damage, parameters, victims }: Case,
  { client, destination }: { client: pg.Client; destination: CountingDestination<string> },
): Promise<{ failures: string[]; refused: number }> {
  const failures: string[] = [];
  let refused = 0;
  for (const table of tables) await client.query(`create temporary table kept_${table} as select * from ${table}`);
  try {
    const { rowCount } = await client.query(damage, [...parameters]);
    if (!rowCount) failures.push('the test has changed nothing');
    for (const { node, where, use, value } of victims) {
      const alarmsBefore = await countAlarms(node);
      const answer = await use(name);
      if (answer.status === 500 && !answer.body.includes(value)) refused += 1;
      else failures.push(`${where} answered ${describeAnswer(answer)}`);
      if ((await countAlarms(node)) <= alarmsBefore) failures.push(`${where} counted no alarm`);
    }
    const forwarded = destination.seen.get(name) ?? 0;
    if (forwarded > 0) failures.push(`${forwarded} requests were forwarded`);
  } finally {
    for (const [table, columns] of restored) {
      const all = columns.map((column) => `${column} = kept.${column}`);
      const ids = table === 'data_keys' ? ['tenant_id', 'purpose', 'version'] : ['tenant_id', 'id'];
      const same = ids.map((id) => `${table}.${id} = kept.${id}`);
      await client.query(
        `update ${table} set ${all} from kept_${table} kept where ${same.join(' and ')}
           and (${columns.map((column) => `${table}.${column} is distinct from kept.${column}`).join(' or ')})`,
      );
      await client.query(`drop table kept_${table}`);
    }
  }
  for (const { where, use, value } of victims) {
    const answer = await use(`${name}, put right`);
    if (answer.status !== 200 || !answer.body.includes(value)) {
      failures.push(`${where}, put right, answered ${describeAnswer(answer)}`);
    }
  }
  return { failures, refused };
}

const restored = [
  ['tokens', ['data_ciphertext']],
  ['data_keys', ['wrapped_key']],
  ['proxies', ['configuration_ciphertext']],
] as const;

/** How often a process has raised the alarm, by its metric. */
async function countAlarms({ adminUrl }: Node): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^sluice_integrity_failures_total (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

/** Processes whose log does not have every alarm that they counted, at level error. Lines come a little later. */
async function findSilent(nodes: readonly Node[], { pause }: World): Promise<string[]> {
  await pause(1500);
  const isAlarm = (line: string) => line.includes('VAULT_INTEGRITY') && /"level":("error"|50)/.test(line);
  const logged = await Promise.all(
    nodes.map(async ({ logFile }) => (await readFile(logFile, 'utf8')).split('\n').filter(isAlarm).length),
  );
  const counted = await Promise.all(nodes.map(countAlarms));
  return nodes.flatMap(({ name }, at) => {
    const [inLog = 0, inMetric = 0] = [logged[at], counted[at]];
    return inLog < inMetric ? [`${name} logged ${inLog} of ${inMetric} alarms`] : [];
  });
}

/** Of each the use is the first in its process, so that nothing of it is in memory. */
function casesFor(world: World, one: Holding, other: Holding): Case[] {
  const [gateway, gateway2] = world.of('proxy-gateway');
  const [, vault] = world.of('token-vault');
  if (!gateway || !gateway2 || !vault) throw new Error('There are too few processes');
  const invoked = (holding: Holding, at: number, node = gateway): Victim => {
    const { id, value } = holding.tokens[at] as Kept;
    const body = { account: `{{ ${id} }}` };
    const use = (name: string) =>
      holding.requests.invoke(node, { proxyKey: holding.proxyKey, body, headers: { [caseHeader]: name } });
    return { where: `${node.name}, token`, value, node, use };
  };
  const read = (holding: Holding, at: number): Victim => {
    const { id, value } = holding.tokens[at] as Kept;
    return {
      where: `${vault.name}, token`,
      value,
      node: vault,
      use: () => holding.requests.detokenize(vault, `{{ ${id} }}`),
    };
  };
  const configured = (holding: Holding, at: number, node = gateway): Victim => {
    const { key, value } = holding.configured[at] as Holding['configured'][number];
    const use = (name: string) =>
      holding.requests.invoke(node, { proxyKey: key, body: {}, headers: { [caseHeader]: name } });
    return { where: `${node.name}, Proxy`, value, node, use };
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
  return [
    {
      name: 'the wrapped data key of another Tenant',
      damage: `update data_keys set wrapped_key = source.wrapped_key from data_keys source
        where data_keys.tenant_id = $1 and source.tenant_id = $2
          and data_keys.purpose = 'token_data' and source.purpose = 'token_data' and source.version = data_keys.version`,
      parameters: [b.tenantId, a.tenantId],
      victims: [...both(b, 0), invoked(b, 0, gateway2)],
    },
    {
      name: 'a flipped bit of the text',
      damage: flip('length(data_ciphertext) - 1'),
      parameters: idsOf(a.tokens[1]),
      victims: both(a, 1),
    },
    { name: 'a flipped bit of the nonce', damage: flip('8'), parameters: idsOf(a.tokens[2]), victims: both(a, 2) },
    {
      name: 'a flipped bit of the key version',
      damage: flip('4'),
      parameters: idsOf(a.tokens[3]),
      victims: both(a, 3),
    },
    {
      name: 'two tokens of a Tenant swapped',
      damage: swap('tokens', 'data_ciphertext'),
      parameters: idsOf(a.tokens[4], a.tokens[5]),
      victims: [...both(a, 4), ...both(a, 5)],
    },
    {
      name: 'tokens of two Tenants swapped',
      damage: swap('tokens', 'data_ciphertext'),
      parameters: idsOf(a.tokens[6], b.tokens[1]),
      victims: [...both(a, 6), ...both(b, 1)],
    },
    {
      name: 'configurations of two Proxies swapped',
      damage: swap('proxies', 'configuration_ciphertext'),
      parameters: idsOf(a.configured[0], a.configured[1]),
      victims: [configured(a, 0), configured(a, 1), configured(a, 1, gateway2)],
    },
    {
      name: 'configurations of two Tenants swapped',
      damage: swap('proxies', 'configuration_ciphertext'),
      parameters: idsOf(a.configured[2], b.configured[0]),
      victims: [configured(a, 2), configured(b, 0)],
    },
  ];
}

async function openHolding(
  world: World,
  { url }: CountingDestination<string>,
  stack: AsyncDisposableStack,
): Promise<Holding> {
  const requests = openRequests(world, stack);
  const tokens: Kept[] = [];
  for (let number = 0; number < 7; number++) {
    const value = `value ${number} of ${world.credentials.tenant_id}`;
    tokens.push({ id: await requests.createToken(value), value });
  }
  const configured: Holding['configured'][number][] = [];
  for (let number = 0; number < 3; number++) {
    const value = `setting ${number} of ${world.credentials.tenant_id}`;
    const code = 'module.exports = async (req) => ({ body: { setting: req.configuration.SETTING } });';
    const proxy = { destination_url: url, configuration: { SETTING: value }, request_transform: { code } };
    configured.push({ ...(await requests.createProxy(proxy)), value });
  }
  const proxy = await requests.createProxy({ destination_url: url });
  return { tenantId: world.credentials.tenant_id, requests, proxyKey: proxy.key, tokens, configured };
}
